// Memory that the program allocates and frees: of the device, managed, and pinned of the host.
// Registered memory of the program is no buffer: it may be mapped twice.
#include "interpose/wrappers/wrappers.hpp"

using namespace sluice::interpose;
using sluice::runtime::Memory;
using sluice::runtime::Runtime;

namespace {

CUresult note_rows(CUresult result, const CUdeviceptr* address, const size_t* pitch, size_t rows) {
  const size_t bytes = result == CUDA_SUCCESS ? *pitch * rows : 0;
  return noted(result, &Runtime::memory_allocated, address, bytes, Memory::of_device);
}

// Kernels reach pinned memory by the host's own address where all memory is the host's.
CUresult note_host(CUresult result, void* const* pointer, size_t bytes) {
  const auto address =
      result == CUDA_SUCCESS ? reinterpret_cast<CUdeviceptr>(*pointer) : CUdeviceptr{0};
  return noted(result, &Runtime::memory_allocated, &address, bytes, Memory::host_may_watch);
}

bool is_device_memory(CUdeviceptr address) {
  const auto get = driver().cuPointerGetAttribute;
  unsigned int is_managed = 1;
  return !is_host_memory(address) &&
         get(&is_managed, CU_POINTER_ATTRIBUTE_IS_MANAGED, address) == CUDA_SUCCESS &&
         is_managed == 0;
}

// The buffer is forgotten before the driver can hand its address out again.
void forget_allocation(CUdeviceptr address) {
  Runtime* runtime = flushed_runtime();
  if (runtime != nullptr && address != 0) runtime->memory_freed(address);
}

}  // namespace

SLUICE_NOTED(cuMemAlloc_v2, (CUdeviceptr * address, size_t bytes), (address, bytes), noted,
             &Runtime::memory_allocated, address, bytes, Memory::of_device)
SLUICE_NOTED(cuMemAllocPitch_v2,
             (CUdeviceptr * address, size_t* pitch, size_t width, size_t rows, unsigned int bytes),
             (address, pitch, width, rows, bytes), note_rows, address, pitch, rows)

// What the host reads of managed memory is no copy, and not seen.
extern "C" CUresult sluice_wrap_cuMemAllocManaged(CUdeviceptr* address, size_t bytes,
                                                  unsigned int flags) {
  const KeepErrno keep;
  flushed_runtime();
  const CUresult result = driver().cuMemAllocManaged(address, bytes, flags);
  if (result == CUDA_SUCCESS) {
    note_host_copy({.function = "cuMemAllocManaged", .unseen = "the host reads managed memory"});
  }
  return noted(result, &Runtime::memory_allocated, address, bytes, Memory::host_may_watch);
}

extern "C" CUresult sluice_wrap_cuMemHostAlloc(void** pointer, size_t bytes, unsigned int flags) {
  const KeepErrno keep;
  return note_host(driver().cuMemHostAlloc(pointer, bytes, flags), pointer, bytes);
}

extern "C" CUresult sluice_wrap_cuMemAllocHost_v2(void** pointer, size_t bytes) {
  const KeepErrno keep;
  return note_host(driver().cuMemAllocHost_v2(pointer, bytes), pointer, bytes);
}

extern "C" CUresult sluice_wrap_cuMemFreeHost(void* pointer) {
  const KeepErrno keep;
  forget_allocation(reinterpret_cast<CUdeviceptr>(pointer));
  return driver().cuMemFreeHost(pointer);
}

extern "C" CUresult sluice_wrap_cuMemAllocAsync(CUdeviceptr* address, size_t bytes,
                                                CUstream stream) {
  const KeepErrno keep;
  flushed_runtime();
  return noted(driver().cuMemAllocAsync(address, bytes, stream), &Runtime::memory_allocated,
               address, bytes, Memory::of_device);
}

// The same memory may be mapped at several addresses.
extern "C" CUresult sluice_wrap_cuMemMap(CUdeviceptr address, size_t bytes, size_t offset,
                                         CUmemGenericAllocationHandle handle,
                                         unsigned long long flags) {
  const KeepErrno keep;
  flushed_runtime();
  return noted(driver().cuMemMap(address, bytes, offset, handle, flags), &Runtime::memory_allocated,
               &address, bytes, Memory::no_buffer);
}

// A pool may hold memory of the host or managed memory.
extern "C" CUresult sluice_wrap_cuMemAllocFromPoolAsync(CUdeviceptr* address, size_t bytes,
                                                        CUmemoryPool pool, CUstream stream) {
  const KeepErrno keep;
  flushed_runtime();
  const CUresult result = driver().cuMemAllocFromPoolAsync(address, bytes, pool, stream);
  const bool is_buffer = result == CUDA_SUCCESS && is_device_memory(*address);
  return noted(result, &Runtime::memory_allocated, address, bytes,
               is_buffer ? Memory::of_device : Memory::no_buffer);
}

extern "C" CUresult sluice_wrap_cuMemFree_v2(CUdeviceptr address) {
  const KeepErrno keep;
  forget_allocation(address);
  const CUresult result = driver().cuMemFree_v2(address);
  // Freeing waits for the device.
  if (result == CUDA_SUCCESS) tell_races(&sluice::runtime::StreamClocks::device_done);
  return result;
}

SLUICE_TOLD(cuMemFreeAsync, (CUdeviceptr address, CUstream stream), (address, stream),
            forget_allocation(address))
