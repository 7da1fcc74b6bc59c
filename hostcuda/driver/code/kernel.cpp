#include <algorithm>
#include <atomic>
#include <chrono>
#include <utility>

#include "base/log.hpp"
#include "hostcuda/driver/code/code.hpp"
#include "hostcuda/driver/code/registers.hpp"
#include "hostcuda/driver/device/device_properties.hpp"
#include "hostcuda/driver/host_watch/shared_flags.hpp"

namespace sluice::hostcuda {
namespace {

uint32_t default_dynamic_shared_bytes(const KernelFacts& facts) {
  return facts.static_shared_bytes < limits::shared_bytes
             ? limits::shared_bytes - facts.static_shared_bytes
             : 0;
}

uint64_t next_number() {
  static std::atomic<uint64_t> last = 0;
  return ++last;
}

unsigned round_up_to_warps(unsigned threads) {
  return (threads + limits::warp - 1) / limits::warp * limits::warp;
}

}  // namespace

Kernel::Kernel(LoadedCode& code, CompiledModule& unit, std::string name, KernelFacts facts)
    : code_(code),
      unit_(unit),
      number_(next_number()),
      name_(std::move(name)),
      facts_(std::move(facts)),
      max_dynamic_shared_bytes_(default_dynamic_shared_bytes(facts_)) {}

CUresult Kernel::block_code(const Dim3& block, uint32_t dynamic_shared_bytes, SluiceBlockCode* code,
                            CodeVariant variant) {
  const std::lock_guard lock(mutex_);
  for (const Compiled& entry : compiled_) {
    if (entry.block == block && entry.dynamic_shared_bytes == dynamic_shared_bytes &&
        entry.variant == variant) {
      *code = entry.code;
      return entry.result;
    }
  }
  const auto start = std::chrono::steady_clock::now();
  const Result<SluiceBlockCode> made =
      unit_.block_code(name_, block, dynamic_shared_bytes, variant);
  const std::chrono::duration<double, std::milli> spent = std::chrono::steady_clock::now() - start;
  log::debug("kernel {}: code for blocks of {} x {} x {} ready after {:.2f} ms", name_, block.x,
             block.y, block.z, spent.count());
  Compiled entry{block, dynamic_shared_bytes, variant};
  if (made) {
    entry.code = *made;
  } else {
    log::error("{}", made.error().line());
    entry.result = made.error().kind == ErrorKind::invalid_input ? CUDA_ERROR_INVALID_PTX
                                                                 : CUDA_ERROR_NOT_SUPPORTED;
  }
  compiled_.push_back(entry);
  *code = entry.code;
  return entry.result;
}

bool Kernel::shares_flags() {
  std::call_once(looked_for_flags_,
                 [&] { shares_flags_ = hostcuda::shares_flags(unit_.module(), name_); });
  return shares_flags_;
}

CUresult Kernel::set_max_dynamic_shared_bytes(int bytes) {
  if (bytes < 0 || uint64_t{facts_.static_shared_bytes} + static_cast<unsigned>(bytes) >
                       limits::shared_optin_bytes) {
    return CUDA_ERROR_INVALID_VALUE;
  }
  max_dynamic_shared_bytes_.store(static_cast<uint32_t>(bytes));
  return CUDA_SUCCESS;
}

// Two threads that find it at once find the same.
int Kernel::registers() const {
  int known = registers_.load();
  if (known == 0) {
    known = static_cast<int>(estimated_registers(unit_.module(), name_, facts_.max_threads));
    registers_.store(known);
  }
  return known;
}

CUresult Kernel::get_attribute(CUfunction_attribute attribute, int* value) const {
  switch (attribute) {
    case CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK:
      *value = static_cast<int>(facts_.max_threads);
      return CUDA_SUCCESS;
    case CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES:
      *value = static_cast<int>(facts_.static_shared_bytes);
      return CUDA_SUCCESS;
    case CU_FUNC_ATTRIBUTE_PTX_VERSION:
    case CU_FUNC_ATTRIBUTE_BINARY_VERSION:
      // Of the PTX, since CUB runs nothing for architectures that it was not compiled for.
      *value = static_cast<int>(facts_.architecture);
      return CUDA_SUCCESS;
    case CU_FUNC_ATTRIBUTE_NUM_REGS:
      *value = registers();
      return CUDA_SUCCESS;
    case CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES:
      *value = static_cast<int>(facts_.local_bytes);
      return CUDA_SUCCESS;
    case CU_FUNC_ATTRIBUTE_CONST_SIZE_BYTES:
      *value = static_cast<int>(facts_.constant_bytes);
      return CUDA_SUCCESS;
    case CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES:
      *value = static_cast<int>(max_dynamic_shared_bytes());
      return CUDA_SUCCESS;
    case CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT:
      *value = preferred_carveout_.load();
      return CUDA_SUCCESS;
    default:
      if (attribute < 0 || attribute >= CU_FUNC_ATTRIBUTE_MAX) return CUDA_ERROR_INVALID_VALUE;
      *value = 0;
      return CUDA_SUCCESS;
  }
}

CUresult Kernel::set_attribute(CUfunction_attribute attribute, int value) {
  switch (attribute) {
    case CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES:
      return set_max_dynamic_shared_bytes(value);
    case CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT:
      if (value < -1 || value > 100) return CUDA_ERROR_INVALID_VALUE;
      preferred_carveout_.store(value);
      return CUDA_SUCCESS;
    case CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED:
    case CU_FUNC_ATTRIBUTE_CLUSTER_SCHEDULING_POLICY_PREFERENCE:
    case CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_WIDTH:
    case CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_HEIGHT:
    case CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_DEPTH:
      log::warning("kernel {}: thread-block clusters are unsupported on the CPU device", name_);
      return CUDA_ERROR_NOT_SUPPORTED;
    default:
      return CUDA_ERROR_INVALID_VALUE;
  }
}

unsigned Kernel::active_blocks(unsigned block_threads, size_t dynamic_shared_bytes) const {
  if (block_threads == 0 || block_threads > facts_.max_threads ||
      dynamic_shared_bytes > max_dynamic_shared_bytes()) {
    return 0;
  }
  unsigned blocks = std::min(limits::blocks_per_multiprocessor,
                             limits::threads_per_multiprocessor / round_up_to_warps(block_threads));
  const size_t shared = facts_.static_shared_bytes + dynamic_shared_bytes;
  if (shared > 0) {
    blocks = static_cast<unsigned>(std::min<size_t>(blocks, limits::shared_optin_bytes / shared));
  }
  return blocks;
}

CUresult Kernel::parameter(size_t index, size_t* offset, size_t* size) const {
  if (index >= facts_.parameters.size()) return CUDA_ERROR_INVALID_VALUE;
  *offset = facts_.parameters[index].offset;
  if (size != nullptr) *size = facts_.parameters[index].size;
  return CUDA_SUCCESS;
}

}  // namespace sluice::hostcuda
