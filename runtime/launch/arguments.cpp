#include "runtime/launch/arguments.hpp"

#include <algorithm>
#include <cstring>

namespace sluice::runtime {
namespace {

// The entries of cuLaunchKernel's `extra` (CU_LAUNCH_PARAM_*), part of its ABI.
void* const extra_end = nullptr;
void* const extra_buffer_pointer = reinterpret_cast<void*>(1);
void* const extra_buffer_size = reinterpret_cast<void*>(2);

const char* read_extra(void** extra, std::vector<std::byte>& block) {
  const void* buffer = nullptr;
  size_t size = 0;
  for (; *extra != extra_end; extra += 2) {
    if (extra[0] == extra_buffer_pointer) {
      buffer = extra[1];
    } else if (extra[0] == extra_buffer_size) {
      size = *static_cast<const size_t*>(extra[1]);
    } else {
      return "launched with an unknown entry in 'extra'";
    }
  }
  if (size < block.size() || (buffer == nullptr && !block.empty())) {
    return "launched with a parameter buffer smaller than the kernel's parameters";
  }
  if (!block.empty()) std::memcpy(block.data(), buffer, block.size());
  return nullptr;
}

}  // namespace

const char* read_parameter_block(const LaunchCall& call, const analysis::KernelSignature& signature,
                                 std::vector<std::byte>& block) {
  block.assign(signature.parameter_bytes, std::byte{0});
  if (call.parameters != nullptr && call.extra != nullptr) {
    return "launched with both 'kernelParams' and 'extra'";
  }
  if (call.extra != nullptr) return read_extra(call.extra, block);
  if (signature.parameters.empty()) return nullptr;
  if (call.parameters == nullptr) return "launched without arguments";
  for (size_t i = 0; i < signature.parameters.size(); ++i) {
    const analysis::ParameterSlot& slot = signature.parameters[i];
    if (call.parameters[i] == nullptr) return "launched with a null argument";
    std::memcpy(block.data() + slot.offset, call.parameters[i], slot.size);
  }
  return nullptr;
}

uint64_t read_slot(std::span<const std::byte> block, const analysis::ParameterSlot& slot) {
  uint64_t value = 0;
  std::memcpy(&value, block.data() + slot.offset, std::min<size_t>(slot.size, sizeof value));
  return value;
}

const char* shape_refusal(const LaunchCall& call) {
  const Dim3& grid = call.grid;
  const Dim3& block = call.block;
  if (grid.count() == 0 || block.count() == 0) return "launched with an empty grid or block";
  if (grid.x > INT32_MAX || grid.y > 65535 || grid.z > 65535 || block.x > 1024 || block.y > 1024 ||
      block.z > 64 || block.count() > 1024) {
    return "launched with a grid or block beyond CUDA's limits";
  }
  // A GPU's workers compute numbers of blocks with a sign, sums of two of them too.
  if (grid.count() > uint64_t{1} << 30U) return "launched with more than 2^30 blocks";
  return nullptr;
}

}  // namespace sluice::runtime
