// The functions that NVIDIA's driver exports and this one does not have (cmake/driver_functions.py
// lists them). cuGetProcAddress does not
// find them, but a program that names them, or looks each of them up by dlsym before it uses any,
// starts all the same: a call returns an error and leaves a line in the log.
#include <atomic>

#include "base/log.hpp"
#include "hostcuda/driver/device/cuda_api.hpp"

namespace {

CUresult refuse(const char* function, std::atomic<bool>& told) {
  if (!told.exchange(true)) {
    sluice::log::error("{} is unsupported on the CPU device; it returns CUDA_ERROR_NOT_SUPPORTED",
                       function);
  }
  return CUDA_ERROR_NOT_SUPPORTED;
}

}  // namespace

// Each function carries the exported name as an assembler label: under its own C++ name it does not
// meet the declaration in CUDA's headers, whose parameters nothing here reads.
#define SLUICE_UNSUPPORTED(name)                                                                  \
  extern "C" __attribute__((visibility("default"))) CUresult unsupported_##name() __asm__(#name); \
  CUresult unsupported_##name() {                                                                 \
    static std::atomic<bool> told{false};                                                         \
    return refuse(#name, told);                                                                   \
  }
#include "unsupported.def"
#undef SLUICE_UNSUPPORTED
