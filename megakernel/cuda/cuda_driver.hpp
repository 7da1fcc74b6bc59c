// The driver's functions that the GPU's backend calls.
#pragma once

#include <cuda.h>

namespace sluice::megakernel {

// SLUICE_DEVICE_CALLS(X) lists them; X(symbol) is the versioned name that the driver exports.
#define SLUICE_DEVICE_CALLS(X)                   \
  X(cuCtxGetCurrent)                             \
  X(cuCtxSetCurrent)                             \
  X(cuCtxGetDevice)                              \
  X(cuDeviceGetAttribute)                        \
  X(cuModuleLoadData)                            \
  X(cuModuleUnload)                              \
  X(cuModuleGetFunction)                         \
  X(cuModuleGetGlobal_v2)                        \
  X(cuLibraryGetGlobal)                          \
  X(cuFuncSetAttribute)                          \
  X(cuOccupancyMaxActiveBlocksPerMultiprocessor) \
  X(cuMemAlloc_v2)                               \
  X(cuMemFree_v2)                                \
  X(cuMemcpyHtoDAsync_v2)                        \
  X(cuMemsetD8Async)                             \
  X(cuLaunchKernel)                              \
  X(cuEventCreate)                               \
  X(cuEventRecord)                               \
  X(cuEventSynchronize)                          \
  X(cuEventDestroy_v2)                           \
  X(cuStreamSynchronize)

// CudaDriver holds a typed pointer for each; `look_up` fills it.
struct CudaDriver {
#define SLUICE_DEVICE_CALL(symbol) decltype(&::symbol) symbol = nullptr;
  SLUICE_DEVICE_CALLS(SLUICE_DEVICE_CALL)
#undef SLUICE_DEVICE_CALL

  // look_up() asks `find(name)` for every function and returns the name of one that it lacks, or
  // null.
  template <class Find>
  const char* look_up(Find&& find) {
    const char* missing = nullptr;
#define SLUICE_DEVICE_CALL(symbol)                            \
  symbol = reinterpret_cast<decltype(symbol)>(find(#symbol)); \
  if (symbol == nullptr) missing = #symbol;
    SLUICE_DEVICE_CALLS(SLUICE_DEVICE_CALL)
#undef SLUICE_DEVICE_CALL
    return missing;
  }
};

}  // namespace sluice::megakernel
