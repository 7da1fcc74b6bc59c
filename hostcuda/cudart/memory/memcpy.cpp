// Copies of consecutive bytes.
#include "hostcuda/cudart/api.hpp"
#include "hostcuda/cudart/memory/copy.hpp"

namespace sluice::cudart {
namespace {

// checked() calls body(to, from) where a copy makes sense and there is anything to copy.
template <class Body>
cudaError_t checked(void* target, const void* source, size_t count, cudaMemcpyKind kind,
                    Body&& body) {
  if (kind < cudaMemcpyHostToHost || kind > cudaMemcpyDefault) {
    return cudaErrorInvalidMemcpyDirection;
  }
  if (count == 0) return cudaSuccess;
  if (target == nullptr || source == nullptr) return cudaErrorInvalidValue;
  return body(device_address(target), device_address(source));
}

}  // namespace

cudaError_t copy(void* target, const void* source, size_t count, cudaMemcpyKind kind) {
  return checked(target, source, count, kind, [&](CUdeviceptr to, CUdeviceptr from) {
    switch (kind) {
      case cudaMemcpyHostToDevice:
        return to_error(cuMemcpyHtoD(to, source, count));
      case cudaMemcpyDeviceToHost:
        return to_error(cuMemcpyDtoH(target, from, count));
      case cudaMemcpyDeviceToDevice:
        return to_error(cuMemcpyDtoD(to, from, count));
      default:
        return to_error(cuMemcpy(to, from, count));
    }
  });
}

cudaError_t copy_async(void* target, const void* source, size_t count, cudaMemcpyKind kind,
                       cudaStream_t stream) {
  return checked(target, source, count, kind, [&](CUdeviceptr to, CUdeviceptr from) {
    switch (kind) {
      case cudaMemcpyHostToDevice:
        return to_error(cuMemcpyHtoDAsync(to, source, count, stream));
      case cudaMemcpyDeviceToHost:
        return to_error(cuMemcpyDtoHAsync(target, from, count, stream));
      case cudaMemcpyDeviceToDevice:
        return to_error(cuMemcpyDtoDAsync(to, from, count, stream));
      default:
        return to_error(cuMemcpyAsync(to, from, count, stream));
    }
  });
}

}  // namespace sluice::cudart

using namespace sluice::cudart;

extern "C" {

cudaError_t cudaMemcpy(void* target, const void* source, size_t count, cudaMemcpyKind kind) {
  return with_context([&] { return copy(target, source, count, kind); });
}

cudaError_t cudaMemcpyAsync(void* target, const void* source, size_t count, cudaMemcpyKind kind,
                            cudaStream_t stream) {
  return with_context([&] { return copy_async(target, source, count, kind, stream); });
}

cudaError_t cudaMemcpyAsync_ptsz(void* target, const void* source, size_t count,
                                 cudaMemcpyKind kind, cudaStream_t stream) {
  return cudaMemcpyAsync(target, source, count, kind, per_thread(stream));
}

// A synchronous copy in a per-thread-stream build orders with the thread's own stream alone.
cudaError_t cudaMemcpy_ptds(void* target, const void* source, size_t count, cudaMemcpyKind kind) {
  const cudaError_t error = cudaMemcpyAsync(target, source, count, kind, cudaStreamPerThread);
  return error == cudaSuccess ? cudaStreamSynchronize(cudaStreamPerThread) : error;
}

// Addresses are unified, so the devices of a peer copy need not be named to the driver.
cudaError_t cudaMemcpyPeer(void* target, int target_device, const void* source, int source_device,
                           size_t count) {
  return with_context([&] {
    cudaError_t error = check_device(target_device);
    if (error == cudaSuccess) error = check_device(source_device);
    return error == cudaSuccess ? copy(target, source, count, cudaMemcpyDeviceToDevice) : error;
  });
}

cudaError_t cudaMemcpyPeerAsync(void* target, int target_device, const void* source,
                                int source_device, size_t count, cudaStream_t stream) {
  return with_context([&] {
    cudaError_t error = check_device(target_device);
    if (error == cudaSuccess) error = check_device(source_device);
    return error == cudaSuccess
               ? copy_async(target, source, count, cudaMemcpyDeviceToDevice, stream)
               : error;
  });
}

}  // extern "C"
