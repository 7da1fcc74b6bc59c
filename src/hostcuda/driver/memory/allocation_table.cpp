#include "hostcuda/driver/memory/allocation_table.hpp"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <iterator>
#include <mutex>

#include <sys/mman.h>

#include "base/divide_up.hpp"

namespace sluice::hostcuda {
namespace {

constexpr size_t small_alignment = 256;
constexpr size_t page_alignment = 4096;
constexpr size_t huge_page_alignment = size_t{2} << 20;
// From here on, memory is worth huge pages.
constexpr size_t huge_page_threshold = 2 * huge_page_alignment;

size_t alignment_for(size_t bytes) {
  if (bytes >= huge_page_threshold) return huge_page_alignment;
  return bytes >= page_alignment ? page_alignment : small_alignment;
}

// From here on, memory is mapped for itself, between pages that nobody may access: a kernel that
// goes beyond it, or uses it after it was freed, is told.
constexpr size_t own_mapping_threshold = size_t{1} << 20;
constexpr size_t guard_bytes = size_t{64} << 10;

// reserve() is 0 where there is no room, or none at `place` where that is asked for.
uintptr_t reserve(size_t bytes, uintptr_t place = 0) {
  const int where = place == 0 ? 0 : MAP_FIXED_NOREPLACE;
  void* mapped = mmap(reinterpret_cast<void*>(place), bytes, PROT_NONE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | where, -1, 0);
  return mapped == MAP_FAILED ? 0 : reinterpret_cast<uintptr_t>(mapped);
}

void unmap(uintptr_t first, uintptr_t end) {
  if (end > first) munmap(reinterpret_cast<void*>(first), end - first);
}

// reserve_aligned() is the start of `bytes` at a multiple of the alignment, with guards before and
// behind; 0 where there is no room.
uintptr_t reserve_aligned(size_t bytes, size_t alignment) {
  const size_t needed = bytes + 2 * guard_bytes;
  const uintptr_t start = reserve(needed + alignment);
  if (start == 0) return 0;
  const uintptr_t memory = round_up(start + guard_bytes, alignment);
  unmap(start, memory - guard_bytes);
  unmap(memory + bytes + guard_bytes, start + needed + alignment);
  return memory;
}

// map_memory() maps at `freed`, where memory of this size was before, if that is free still.
void* map_memory(size_t bytes, uintptr_t freed) {
  const size_t rounded = round_up(bytes, page_alignment);
  uintptr_t address = 0;
  if (freed != 0 && reserve(rounded + 2 * guard_bytes, freed - guard_bytes) != 0) address = freed;
  if (address == 0) {
    address = reserve_aligned(rounded, std::max(alignment_for(bytes), guard_bytes));
  }
  if (address == 0) return nullptr;
  auto* memory = reinterpret_cast<void*>(address);
  if (mprotect(memory, rounded, PROT_READ | PROT_WRITE) != 0) {
    unmap(address - guard_bytes, address + rounded + guard_bytes);
    return nullptr;
  }
  // A hint: where the kernel refuses it, small pages serve as well.
  if (bytes >= huge_page_threshold) madvise(memory, rounded, MADV_HUGEPAGE);
  return memory;
}

void* allocate_memory(size_t bytes, uintptr_t freed) {
  if (bytes > SIZE_MAX / 2) return nullptr;
  if (bytes >= own_mapping_threshold) return map_memory(bytes, freed);
  void* memory = nullptr;
  if (posix_memalign(&memory, alignment_for(bytes), bytes) != 0) return nullptr;
  // The first memory that a program gets of a GPU is zero, and programs have come to rely on it.
  std::memset(memory, 0, bytes);
  return memory;
}

void free_memory(uintptr_t address, size_t bytes) {
  if (bytes < own_mapping_threshold) {
    std::free(reinterpret_cast<void*>(address));
    return;
  }
  unmap(address - guard_bytes, address + round_up(bytes, page_alignment) + guard_bytes);
}

bool counts_as_device_memory(MemoryKind kind) {
  return kind == MemoryKind::device || kind == MemoryKind::managed || kind == MemoryKind::array;
}

bool is_owned_by_table(MemoryKind kind) {
  return counts_as_device_memory(kind) || kind == MemoryKind::host;
}

}  // namespace

std::optional<uintptr_t> AllocationTable::allocate(MemoryKind kind, size_t bytes, unsigned flags,
                                                   const void* owner) {
  const std::unique_lock lock(mutex_);
  const size_t limit = counts_as_device_memory(kind) ? capacity_ - used_ : capacity_;
  if (bytes > limit) return std::nullopt;
  const auto freed = freed_.find(bytes);
  void* memory = allocate_memory(bytes, freed == freed_.end() ? 0 : freed->second);
  if (memory == nullptr) return std::nullopt;
  const auto address = reinterpret_cast<uintptr_t>(memory);
  allocations_[address] = {address, bytes, kind, flags, owner, ++last_id_};
  if (counts_as_device_memory(kind)) used_ += bytes;
  return address;
}

bool AllocationTable::overlaps(uintptr_t address, size_t bytes) const {
  const auto next = allocations_.lower_bound(address);
  if (next != allocations_.end() && next->first - address < bytes) return true;
  if (next == allocations_.begin()) return false;
  const Allocation& before = std::prev(next)->second;
  return address - before.address < before.bytes;
}

bool AllocationTable::add(const Allocation& allocation) {
  const std::unique_lock lock(mutex_);
  if (overlaps(allocation.address, allocation.bytes)) return false;
  Allocation& entry = allocations_[allocation.address];
  entry = allocation;
  entry.id = ++last_id_;
  return true;
}

std::optional<Allocation> AllocationTable::find(uintptr_t address) const {
  const std::shared_lock lock(mutex_);
  const auto next = allocations_.upper_bound(address);
  if (next == allocations_.begin()) return std::nullopt;
  const Allocation& candidate = std::prev(next)->second;
  if (!candidate.covers(address, 1)) return std::nullopt;
  return candidate;
}

AllocationTable::Map::iterator AllocationTable::erase(Map::iterator place) {
  const Allocation& allocation = place->second;
  if (counts_as_device_memory(allocation.kind)) used_ -= allocation.bytes;
  if (is_owned_by_table(allocation.kind)) {
    free_memory(allocation.address, allocation.bytes);
    if (allocation.bytes >= own_mapping_threshold) freed_[allocation.bytes] = allocation.address;
  }
  return allocations_.erase(place);
}

bool AllocationTable::release(uintptr_t address, MemoryKind kind) {
  const std::unique_lock lock(mutex_);
  const auto place = allocations_.find(address);
  if (place == allocations_.end() || place->second.kind != kind) return false;
  erase(place);
  return true;
}

void AllocationTable::release_owned_by(const void* owner) {
  const std::unique_lock lock(mutex_);
  for (auto next = allocations_.begin(); next != allocations_.end();) {
    next = next->second.owner == owner ? erase(next) : std::next(next);
  }
}

size_t AllocationTable::used() const {
  const std::shared_lock lock(mutex_);
  return used_;
}

}  // namespace sluice::hostcuda
