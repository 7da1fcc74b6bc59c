#include "hostcuda/driver/memory/pool.hpp"

#include <algorithm>

namespace sluice::hostcuda {

CUresult MemoryPool::get(CUmemPool_attribute attribute, void* value) const {
  const std::lock_guard lock(mutex_);
  if (const auto found = reuse_.find(attribute); found != reuse_.end()) {
    *static_cast<int*>(value) = found->second;
    return CUDA_SUCCESS;
  }
  auto* number = static_cast<cuuint64_t*>(value);
  switch (attribute) {
    case CU_MEMPOOL_ATTR_RELEASE_THRESHOLD:
      *number = threshold_;
      return CUDA_SUCCESS;
    case CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT:
    case CU_MEMPOOL_ATTR_USED_MEM_CURRENT:
      *number = used_;
      return CUDA_SUCCESS;
    case CU_MEMPOOL_ATTR_RESERVED_MEM_HIGH:
    case CU_MEMPOOL_ATTR_USED_MEM_HIGH:
      *number = most_used_;
      return CUDA_SUCCESS;
    default:
      return CUDA_ERROR_INVALID_VALUE;
  }
}

CUresult MemoryPool::set(CUmemPool_attribute attribute, const void* value) {
  const std::lock_guard lock(mutex_);
  if (const auto found = reuse_.find(attribute); found != reuse_.end()) {
    found->second = *static_cast<const int*>(value) != 0 ? 1 : 0;
    return CUDA_SUCCESS;
  }
  const cuuint64_t number = *static_cast<const cuuint64_t*>(value);
  switch (attribute) {
    case CU_MEMPOOL_ATTR_RELEASE_THRESHOLD:
      threshold_ = number;
      return CUDA_SUCCESS;
    case CU_MEMPOOL_ATTR_RESERVED_MEM_HIGH:
    case CU_MEMPOOL_ATTR_USED_MEM_HIGH:
      if (number != 0) return CUDA_ERROR_INVALID_VALUE;
      most_used_ = used_;
      return CUDA_SUCCESS;
    default:
      return CUDA_ERROR_INVALID_VALUE;
  }
}

void MemoryPool::add(size_t bytes) {
  const std::lock_guard lock(mutex_);
  used_ += bytes;
  most_used_ = std::max(most_used_, used_);
}

void MemoryPool::remove(size_t bytes) {
  const std::lock_guard lock(mutex_);
  used_ -= std::min<uint64_t>(used_, bytes);
}

size_t MemoryPool::used() const {
  const std::lock_guard lock(mutex_);
  return used_;
}

Pools& pools() {
  static auto* all = new Pools;
  return *all;
}

void Pools::own(CUdeviceptr pointer, const PoolRef& pool, size_t bytes) {
  pool->add(bytes);
  const std::lock_guard lock(mutex_);
  owners_[pointer] = {pool, bytes};
}

PoolRef Pools::in_use() {
  const std::lock_guard lock(mutex_);
  return current_;
}

void Pools::use(const PoolRef& pool) {
  const std::lock_guard lock(mutex_);
  current_ = pool;
}

void disown_pooled(CUdeviceptr pointer) {
  Pools& all = pools();
  const std::lock_guard lock(all.mutex_);
  const auto found = all.owners_.find(pointer);
  if (found == all.owners_.end()) return;
  found->second.first->remove(found->second.second);
  all.owners_.erase(found);
}

void release_pooled(AllocationTable& memory, CUdeviceptr pointer, MemoryKind kind) {
  disown_pooled(pointer);
  memory.release(pointer, kind);
}

void GraphMemoryTable::add(CUdeviceptr pointer) {
  const std::lock_guard lock(mutex_);
  states_[pointer] = {};
}

void GraphMemoryTable::use(CUdeviceptr pointer) {
  const std::lock_guard lock(mutex_);
  states_[pointer].in_use = true;
}

bool GraphMemoryTable::abandon(CUdeviceptr pointer) {
  const std::lock_guard lock(mutex_);
  State& state = states_[pointer];
  state.abandoned = true;
  if (state.in_use) return false;
  states_.erase(pointer);
  return true;
}

bool GraphMemoryTable::knows(CUdeviceptr pointer) const {
  const std::lock_guard lock(mutex_);
  return states_.contains(pointer);
}

GraphMemoryTable::Freed GraphMemoryTable::free(CUdeviceptr pointer) {
  const std::lock_guard lock(mutex_);
  const auto found = states_.find(pointer);
  if (found == states_.end()) return Freed::unknown;
  found->second.in_use = false;
  if (!found->second.abandoned) return Freed::kept;
  states_.erase(found);
  return Freed::last;
}

bool free_graph_memory(AllocationTable& memory, CUdeviceptr pointer) {
  const GraphMemoryTable::Freed freed = pools().graph_memory.free(pointer);
  if (freed == GraphMemoryTable::Freed::unknown) return false;
  if (freed == GraphMemoryTable::Freed::last) release_pooled(memory, pointer, MemoryKind::device);
  return true;
}

}  // namespace sluice::hostcuda
