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
  X(cuDeviceGetName)                             \
  X(cuModuleLoadDataEx)                          \
  X(cuModuleUnload)                              \
  X(cuModuleGetFunction)                         \
  X(cuModuleGetGlobal_v2)                        \
  X(cuLibraryGetGlobal)                          \
  X(cuKernelGetFunction)                         \
  X(cuFuncGetAttribute)                          \
  X(cuFuncSetAttribute)                          \
  X(cuOccupancyMaxActiveBlocksPerMultiprocessor) \
  X(cuMemAlloc_v2)                               \
  X(cuMemFree_v2)                                \
  X(cuMemHostAlloc)                              \
  X(cuMemHostGetDevicePointer_v2)                \
  X(cuMemFreeHost)                               \
  X(cuMemcpyHtoDAsync_v2)                        \
  X(cuMemcpyDtoHAsync_v2)                        \
  X(cuMemsetD8Async)                             \
  X(cuLaunchKernel)                              \
  X(cuEventCreate)                               \
  X(cuEventRecord)                               \
  X(cuEventSynchronize)                          \
  X(cuEventDestroy_v2)                           \
  X(cuStreamSynchronize)

// CudaDriver holds a typed pointer for each; `look_up` fills it.
struct CudaDriver {
  // Null where the driver has none, and then it captures nothing either.
  decltype(&::cuThreadExchangeStreamCaptureMode) cuThreadExchangeStreamCaptureMode = nullptr;
#define SLUICE_DEVICE_CALL(symbol) decltype(&::symbol) symbol = nullptr;
  SLUICE_DEVICE_CALLS(SLUICE_DEVICE_CALL)
#undef SLUICE_DEVICE_CALL

  // look_up() asks `find(name)` for every function and returns the name of one that it lacks, or
  // null.
  template <class Find>
  const char* look_up(Find&& find) {
    const char* missing = nullptr;
    cuThreadExchangeStreamCaptureMode =
        reinterpret_cast<decltype(cuThreadExchangeStreamCaptureMode)>(
            find("cuThreadExchangeStreamCaptureMode"));
#define SLUICE_DEVICE_CALL(symbol)                            \
  symbol = reinterpret_cast<decltype(symbol)>(find(#symbol)); \
  if (symbol == nullptr) missing = #symbol;
    SLUICE_DEVICE_CALLS(SLUICE_DEVICE_CALL)
#undef SLUICE_DEVICE_CALL
    return missing;
  }
};

// RelaxedCapture is for calls of ours that a capture of the program forbids: while some stream is
// captured, loading code, allocating and asking events fails on other threads too, or ends the
// capture with an error, unless the calling thread says that it knows what it does.
class RelaxedCapture {
 public:
  explicit RelaxedCapture(const CudaDriver& driver) : driver_(driver) { exchange(); }
  ~RelaxedCapture() { exchange(); }
  RelaxedCapture(const RelaxedCapture&) = delete;
  RelaxedCapture& operator=(const RelaxedCapture&) = delete;

 private:
  // The mode before comes back, for the next exchange.
  void exchange() {
    if (driver_.cuThreadExchangeStreamCaptureMode == nullptr) return;
    driver_.cuThreadExchangeStreamCaptureMode(&mode_);
  }

  const CudaDriver& driver_;
  CUstreamCaptureMode mode_ = CU_STREAM_CAPTURE_MODE_RELAXED;
};

}  // namespace sluice::megakernel
