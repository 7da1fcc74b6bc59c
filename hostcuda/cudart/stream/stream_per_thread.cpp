// The stream functions of builds with --default-stream per-thread.
#include "hostcuda/cudart/api.hpp"

using namespace sluice::cudart;

extern "C" {

cudaError_t cudaStreamQuery_ptsz(cudaStream_t stream) {
  return answer_to(__builtin_return_address(0), cudaStreamQuery(per_thread(stream)));
}

cudaError_t cudaStreamSynchronize_ptsz(cudaStream_t stream) {
  return cudaStreamSynchronize(per_thread(stream));
}

cudaError_t cudaStreamWaitEvent_ptsz(cudaStream_t stream, cudaEvent_t event, unsigned flags) {
  return cudaStreamWaitEvent(per_thread(stream), event, flags);
}

cudaError_t cudaStreamAddCallback_ptsz(cudaStream_t stream, cudaStreamCallback_t function,
                                       void* user_data, unsigned flags) {
  return cudaStreamAddCallback(per_thread(stream), function, user_data, flags);
}

cudaError_t cudaLaunchHostFunc_ptsz(cudaStream_t stream, cudaHostFn_t function, void* user_data) {
  return cudaLaunchHostFunc(per_thread(stream), function, user_data);
}

cudaError_t cudaStreamAttachMemAsync_ptsz(cudaStream_t stream, void* pointer, size_t length,
                                          unsigned flags) {
  return cudaStreamAttachMemAsync(per_thread(stream), pointer, length, flags);
}

cudaError_t cudaStreamGetPriority_ptsz(cudaStream_t stream, int* priority) {
  return cudaStreamGetPriority(per_thread(stream), priority);
}

cudaError_t cudaStreamGetFlags_ptsz(cudaStream_t stream, unsigned* flags) {
  return cudaStreamGetFlags(per_thread(stream), flags);
}

cudaError_t cudaStreamGetId_ptsz(cudaStream_t stream, unsigned long long* id) {
  return cudaStreamGetId(per_thread(stream), id);
}

cudaError_t cudaStreamGetDevice_ptsz(cudaStream_t stream, int* device) {
  return cudaStreamGetDevice(per_thread(stream), device);
}

cudaError_t cudaStreamIsCapturing_ptsz(cudaStream_t stream, cudaStreamCaptureStatus* status) {
  return cudaStreamIsCapturing(per_thread(stream), status);
}

cudaError_t cudaEventRecord_ptsz(cudaEvent_t event, cudaStream_t stream) {
  return cudaEventRecord(event, per_thread(stream));
}

cudaError_t cudaEventRecordWithFlags_ptsz(cudaEvent_t event, cudaStream_t stream, unsigned flags) {
  return cudaEventRecordWithFlags(event, per_thread(stream), flags);
}

}  // extern "C"
