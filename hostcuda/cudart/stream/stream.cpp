// Streams, and what the host puts into them.
#include <memory>
#include <new>

#include "hostcuda/cudart/api.hpp"

using namespace sluice::cudart;

namespace {

// A callback of the runtime wants the runtime's error type; the driver's is another enumeration.
struct Callback {
  cudaStreamCallback_t function;
  void* user_data;
};

void CUDA_CB run_callback(CUstream stream, CUresult result, void* data) {
  const std::unique_ptr<Callback> callback(static_cast<Callback*>(data));
  callback->function(stream, to_error(result), callback->user_data);
}

}  // namespace

extern "C" {

cudaError_t cudaStreamCreateWithPriority(cudaStream_t* stream, unsigned flags, int priority) {
  return with_context([&] { return cuStreamCreateWithPriority(stream, flags, priority); });
}

cudaError_t cudaStreamCreateWithFlags(cudaStream_t* stream, unsigned flags) {
  return with_context([&] { return cuStreamCreate(stream, flags); });
}

cudaError_t cudaStreamCreate(cudaStream_t* stream) {
  return cudaStreamCreateWithFlags(stream, cudaStreamDefault);
}

cudaError_t cudaStreamDestroy(cudaStream_t stream) {
  return with_context([&] { return cuStreamDestroy(stream); });
}

cudaError_t cudaStreamQuery(cudaStream_t stream) {
  return answer_to(__builtin_return_address(0),
                   with_context([&] { return cuStreamQuery(stream); }));
}

cudaError_t cudaStreamSynchronize(cudaStream_t stream) {
  return with_context([&] { return cuStreamSynchronize(stream); });
}

cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event, unsigned flags) {
  return with_context([&] { return cuStreamWaitEvent(stream, event, flags); });
}

cudaError_t cudaStreamAddCallback(cudaStream_t stream, cudaStreamCallback_t function,
                                  void* user_data, unsigned flags) {
  return with_context([&] {
    if (function == nullptr) return CUDA_ERROR_INVALID_VALUE;
    std::unique_ptr<Callback> callback(new (std::nothrow) Callback{function, user_data});
    if (callback == nullptr) return CUDA_ERROR_OUT_OF_MEMORY;
    const CUresult result = cuStreamAddCallback(stream, run_callback, callback.get(), flags);
    if (result == CUDA_SUCCESS) callback.release();
    return result;
  });
}

cudaError_t cudaLaunchHostFunc(cudaStream_t stream, cudaHostFn_t function, void* user_data) {
  return with_context([&] { return cuLaunchHostFunc(stream, function, user_data); });
}

cudaError_t cudaStreamAttachMemAsync(cudaStream_t stream, void* pointer, size_t length,
                                     unsigned flags) {
  return with_context(
      [&] { return cuStreamAttachMemAsync(stream, device_address(pointer), length, flags); });
}

cudaError_t cudaStreamGetPriority(cudaStream_t stream, int* priority) {
  return with_context([&] { return cuStreamGetPriority(stream, priority); });
}

cudaError_t cudaStreamGetFlags(cudaStream_t stream, unsigned* flags) {
  return with_context([&] { return cuStreamGetFlags(stream, flags); });
}

cudaError_t cudaStreamGetId(cudaStream_t stream, unsigned long long* id) {
  return with_context([&] { return cuStreamGetId(stream, id); });
}

cudaError_t cudaStreamGetDevice(cudaStream_t stream, int* device) {
  return with_context([&] { return cuStreamGetDevice(stream, device); });
}

cudaError_t cudaStreamIsCapturing(cudaStream_t stream, cudaStreamCaptureStatus* status) {
  return with_context([&] {
    CUstreamCaptureStatus driver_status = CU_STREAM_CAPTURE_STATUS_NONE;
    if (status == nullptr) return CUDA_ERROR_INVALID_VALUE;
    const CUresult result = cuStreamIsCapturing(stream, &driver_status);
    if (result == CUDA_SUCCESS) *status = static_cast<cudaStreamCaptureStatus>(driver_status);
    return result;
  });
}

}  // extern "C"
