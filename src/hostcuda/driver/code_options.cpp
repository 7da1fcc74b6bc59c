#include "hostcuda/driver/code_options.hpp"

#include <algorithm>
#include <cstdint>
#include <cstring>

namespace sluice::hostcuda {

void write_error_log(const std::string& message, unsigned count, const CUjit_option* options,
                     void** values) {
  if (options == nullptr || values == nullptr) return;
  char* buffer = nullptr;
  void** size = nullptr;
  for (unsigned i = 0; i < count; ++i) {
    if (options[i] == CU_JIT_ERROR_LOG_BUFFER) buffer = static_cast<char*>(values[i]);
    if (options[i] == CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES) size = &values[i];
  }
  if (buffer == nullptr || size == nullptr) return;
  // The size is an unsigned int in the place of a pointer, in and out.
  const auto capacity = static_cast<unsigned>(reinterpret_cast<uintptr_t>(*size));
  if (capacity == 0) return;
  const size_t length = std::min<size_t>(message.size(), capacity - 1);
  std::memcpy(buffer, message.data(), length);
  buffer[length] = '\0';
  *size = reinterpret_cast<void*>(uintptr_t{length});
}

}  // namespace sluice::hostcuda
