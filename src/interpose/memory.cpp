// Device memory that the program allocates and frees.
#include "interpose/shim.hpp"
#include "interpose/wrappers.hpp"

using namespace sluice::interpose;

namespace {

const DriverCalls& driver() {
  return Shim::get().calls();
}

CUresult note_allocation(CUresult result, const CUdeviceptr* address, size_t bytes) {
  sluice::runtime::Runtime* runtime = Shim::get().runtime();
  if (result == CUDA_SUCCESS && runtime != nullptr && bytes > 0) {
    runtime->memory_allocated(*address, bytes);
  }
  return result;
}

// The buffer is forgotten before the driver can hand its address out again.
void forget_allocation(CUdeviceptr address) {
  sluice::runtime::Runtime* runtime = flushed_runtime();
  if (runtime != nullptr && address != 0) runtime->memory_freed(address);
}

}  // namespace

extern "C" CUresult sluice_wrap_cuMemAlloc_v2(CUdeviceptr* address, size_t bytes) {
  const ErrnoGuard guard;
  return note_allocation(driver().cuMemAlloc_v2(address, bytes), address, bytes);
}

extern "C" CUresult sluice_wrap_cuMemAllocPitch_v2(CUdeviceptr* address, size_t* pitch,
                                                   size_t width, size_t height,
                                                   unsigned int element_bytes) {
  const ErrnoGuard guard;
  const CUresult result = driver().cuMemAllocPitch_v2(address, pitch, width, height, element_bytes);
  return result == CUDA_SUCCESS ? note_allocation(result, address, *pitch * height) : result;
}

extern "C" CUresult sluice_wrap_cuMemAllocAsync(CUdeviceptr* address, size_t bytes,
                                                CUstream stream) {
  const ErrnoGuard guard;
  flushed_runtime();
  return note_allocation(driver().cuMemAllocAsync(address, bytes, stream), address, bytes);
}

extern "C" CUresult sluice_wrap_cuMemAllocAsync_ptsz(CUdeviceptr* address, size_t bytes,
                                                     CUstream stream) {
  const ErrnoGuard guard;
  flushed_runtime();
  return note_allocation(driver().cuMemAllocAsync_ptsz(address, bytes, stream), address, bytes);
}

extern "C" CUresult sluice_wrap_cuMemFree_v2(CUdeviceptr address) {
  const ErrnoGuard guard;
  forget_allocation(address);
  const CUresult result = driver().cuMemFree_v2(address);
  sluice::runtime::Runtime* runtime = Shim::get().runtime();
  // Freeing waits for the device.
  if (result == CUDA_SUCCESS && runtime != nullptr && runtime->checks_races()) runtime->ordered({});
  return result;
}

extern "C" CUresult sluice_wrap_cuMemFreeAsync(CUdeviceptr address, CUstream stream) {
  const ErrnoGuard guard;
  forget_allocation(address);
  return driver().cuMemFreeAsync(address, stream);
}

extern "C" CUresult sluice_wrap_cuMemFreeAsync_ptsz(CUdeviceptr address, CUstream stream) {
  const ErrnoGuard guard;
  forget_allocation(address);
  return driver().cuMemFreeAsync_ptsz(address, stream);
}
