// Device memory that the program allocates and frees.
#include "interpose/wrappers/wrappers.hpp"

using namespace sluice::interpose;
using sluice::runtime::Runtime;

namespace {

CUresult note_rows(CUresult result, const CUdeviceptr* address, const size_t* pitch, size_t rows) {
  const size_t bytes = result == CUDA_SUCCESS ? *pitch * rows : 0;
  return noted(result, &Runtime::memory_allocated, address, bytes);
}

// The buffer is forgotten before the driver can hand its address out again.
void forget_allocation(CUdeviceptr address) {
  Runtime* runtime = flushed_runtime();
  if (runtime != nullptr && address != 0) runtime->memory_freed(address);
}

}  // namespace

SLUICE_NOTED(cuMemAlloc_v2, (CUdeviceptr * address, size_t bytes), (address, bytes), noted,
             &Runtime::memory_allocated, address, bytes)
SLUICE_NOTED(cuMemAllocPitch_v2,
             (CUdeviceptr * address, size_t* pitch, size_t width, size_t rows, unsigned int bytes),
             (address, pitch, width, rows, bytes), note_rows, address, pitch, rows)

extern "C" CUresult sluice_wrap_cuMemAllocAsync(CUdeviceptr* address, size_t bytes,
                                                CUstream stream) {
  const ErrnoGuard guard;
  flushed_runtime();
  return noted(driver().cuMemAllocAsync(address, bytes, stream), &Runtime::memory_allocated,
               address, bytes);
}

extern "C" CUresult sluice_wrap_cuMemFree_v2(CUdeviceptr address) {
  const ErrnoGuard guard;
  forget_allocation(address);
  const CUresult result = driver().cuMemFree_v2(address);
  // Freeing waits for the device.
  if (result == CUDA_SUCCESS) tell_races(&sluice::runtime::StreamClocks::device_done);
  return result;
}

SLUICE_TOLD(cuMemFreeAsync, (CUdeviceptr address, CUstream stream), (address, stream),
            forget_allocation(address))
