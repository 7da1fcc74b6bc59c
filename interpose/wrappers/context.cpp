// Contexts that the program ends: what Sluice holds in them goes before, or with them.
#include "interpose/wrappers/wrappers.hpp"

using namespace sluice::interpose;

namespace {

// Which context a device's primary one is only the driver knows: null stands for it.
void end(CUcontext context) {
  streams_may_end();
  if (sluice::runtime::Runtime* runtime = flushed_runtime()) runtime->context_ends(context);
}

// The last release ends the context.
CUresult note_release(CUresult result, CUdevice device) {
  unsigned int flags = 0;
  int is_active = 1;
  const auto get_state = driver().cuDevicePrimaryCtxGetState;
  if (result == CUDA_SUCCESS && get_state != nullptr &&
      get_state(device, &flags, &is_active) == CUDA_SUCCESS && is_active == 0) {
    end(nullptr);
  }
  return result;
}

}  // namespace

SLUICE_TOLD(cuCtxDestroy, (CUcontext context), (context), if (context != nullptr) end(context))
SLUICE_TOLD(cuCtxDestroy_v2, (CUcontext context), (context), if (context != nullptr) end(context))
SLUICE_TOLD(cuDevicePrimaryCtxReset, (CUdevice device), (device), end(nullptr))
SLUICE_TOLD(cuDevicePrimaryCtxReset_v2, (CUdevice device), (device), end(nullptr))

extern "C" CUresult sluice_wrap_cuDevicePrimaryCtxRelease(CUdevice device) {
  const KeepErrno keep;
  flushed_runtime();
  return note_release(driver().cuDevicePrimaryCtxRelease(device), device);
}

extern "C" CUresult sluice_wrap_cuDevicePrimaryCtxRelease_v2(CUdevice device) {
  const KeepErrno keep;
  flushed_runtime();
  return note_release(driver().cuDevicePrimaryCtxRelease_v2(device), device);
}
