// Contexts that the program ends: what Sluice holds in them goes before, or with them.
#include "interpose/shim.hpp"
#include "interpose/wrappers.hpp"

using namespace sluice::interpose;

namespace {

const DriverCalls& driver() {
  return Shim::get().calls();
}

// Which context a device's primary one is only the driver knows: null stands for it.
void end(CUcontext context) {
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

extern "C" CUresult sluice_wrap_cuCtxDestroy(CUcontext context) {
  const ErrnoGuard guard;
  if (context != nullptr) end(context);
  return driver().cuCtxDestroy(context);
}

extern "C" CUresult sluice_wrap_cuCtxDestroy_v2(CUcontext context) {
  const ErrnoGuard guard;
  if (context != nullptr) end(context);
  return driver().cuCtxDestroy_v2(context);
}

extern "C" CUresult sluice_wrap_cuDevicePrimaryCtxReset(CUdevice device) {
  const ErrnoGuard guard;
  end(nullptr);
  return driver().cuDevicePrimaryCtxReset(device);
}

extern "C" CUresult sluice_wrap_cuDevicePrimaryCtxReset_v2(CUdevice device) {
  const ErrnoGuard guard;
  end(nullptr);
  return driver().cuDevicePrimaryCtxReset_v2(device);
}

extern "C" CUresult sluice_wrap_cuDevicePrimaryCtxRelease(CUdevice device) {
  const ErrnoGuard guard;
  flushed_runtime();
  return note_release(driver().cuDevicePrimaryCtxRelease(device), device);
}

extern "C" CUresult sluice_wrap_cuDevicePrimaryCtxRelease_v2(CUdevice device) {
  const ErrnoGuard guard;
  flushed_runtime();
  return note_release(driver().cuDevicePrimaryCtxRelease_v2(device), device);
}
