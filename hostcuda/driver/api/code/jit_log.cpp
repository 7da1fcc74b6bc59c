#include "hostcuda/driver/api/code/jit_log.hpp"

#include <algorithm>
#include <cstdint>
#include <cstring>

#include <fmt/format.h>

namespace sluice::hostcuda {

JitLog::JitLog(unsigned count, const CUjit_option* options, void** values) {
  if (count == 0) return;
  is_valid_ = options != nullptr && values != nullptr;
  for (unsigned i = 0; is_valid_ && i < count; ++i) {
    switch (options[i]) {
      case CU_JIT_ERROR_LOG_BUFFER:
        errors_.begin = static_cast<char*>(values[i]);
        break;
      case CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES:
        errors_.size = &values[i];
        break;
      case CU_JIT_INFO_LOG_BUFFER:
        information_.begin = static_cast<char*>(values[i]);
        break;
      case CU_JIT_INFO_LOG_BUFFER_SIZE_BYTES:
        information_.size = &values[i];
        break;
      case CU_JIT_WALL_TIME:
        wall_time_ = &values[i];
        break;
      case CU_JIT_LOG_VERBOSE:
        is_verbose_ = static_cast<int>(reinterpret_cast<uintptr_t>(values[i])) != 0;
        break;
      default:
        break;
    }
  }
  errors_.start();
  information_.start();
  add_time({});
}

// A size is an unsigned int in the place of a pointer, in and out.
void JitLog::Buffer::start() {
  if (begin == nullptr || size == nullptr) return;
  capacity = static_cast<unsigned>(reinterpret_cast<uintptr_t>(*size));
  *size = nullptr;
  if (capacity != 0) *begin = '\0';
}

void JitLog::Buffer::add(std::string_view line) {
  if (capacity == 0) return;
  const auto append = [this](std::string_view text) {
    const size_t bytes = std::min(text.size(), capacity - 1 - length);
    std::memcpy(begin + length, text.data(), bytes);
    length += bytes;
  };
  if (length != 0) append("\n");
  append(line);
  begin[length] = '\0';
  *size = reinterpret_cast<void*>(uintptr_t{length});
}

void JitLog::describe(LoadedCode& code) {
  if (!is_verbose_) return;
  for (const std::string& name : code.kernel_names()) {
    Kernel* kernel = nullptr;
    if (code.kernel(name, &kernel) != CUDA_SUCCESS) continue;
    const KernelFacts& facts = kernel->facts();
    information_.add(fmt::format(
        "kernel {}: {} bytes of parameters, {} bytes of static shared memory, at most {} threads",
        name, facts.parameter_bytes, facts.static_shared_bytes, facts.max_threads));
  }
}

// A float in the place of a pointer.
void JitLog::add_time(std::chrono::duration<float, std::milli> time) {
  if (wall_time_ == nullptr) return;
  milliseconds_ += time.count();
  std::memcpy(wall_time_, &milliseconds_, sizeof milliseconds_);
}

}  // namespace sluice::hostcuda
