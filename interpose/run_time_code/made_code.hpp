// What the forwarders do by the device: on the CPU device machine code is never made; on a GPU the
// program gets it untouched, and the shim hears of what PTX it was made.
#pragma once

#include <cstddef>
#include <cstdlib>
#include <cstring>

#include <dlfcn.h>

namespace sluice::interpose {

// is_for_cpu() is true where the device is the CPU for certain. Thread-safe.
inline bool is_for_cpu() {
  static const bool answer = [] {
    const char* const device = std::getenv("SLUICE_DEVICE");
    return device != nullptr && std::strcmp(device, "cpu") == 0;
  }();
  return answer;
}

// remember_code() tells the shim, if the process has it (remembered_code.hpp). Thread-safe.
inline void remember_code(const void* image, size_t size, const char* ptx, size_t ptx_size) {
  using Remember = void (*)(const void*, size_t, const char*, size_t);
  static const auto remember =
      reinterpret_cast<Remember>(dlsym(RTLD_DEFAULT, "sluice_remember_code"));
  if (remember != nullptr) remember(image, size, ptx, ptx_size);
}

}  // namespace sluice::interpose
