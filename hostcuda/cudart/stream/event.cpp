// Events.
#include "hostcuda/cudart/api.hpp"

using namespace sluice::cudart;

extern "C" {

cudaError_t cudaEventCreateWithFlags(cudaEvent_t* event, unsigned flags) {
  return with_context([&] { return cuEventCreate(event, flags); });
}

cudaError_t cudaEventCreate(cudaEvent_t* event) {
  return cudaEventCreateWithFlags(event, cudaEventDefault);
}

cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream) {
  return with_context([&] { return cuEventRecord(event, stream); });
}

cudaError_t cudaEventRecordWithFlags(cudaEvent_t event, cudaStream_t stream, unsigned flags) {
  return with_context([&] { return cuEventRecordWithFlags(event, stream, flags); });
}

cudaError_t cudaEventQuery(cudaEvent_t event) {
  return answer_to(__builtin_return_address(0), with_context([&] { return cuEventQuery(event); }));
}

cudaError_t cudaEventSynchronize(cudaEvent_t event) {
  return with_context([&] { return cuEventSynchronize(event); });
}

cudaError_t cudaEventDestroy(cudaEvent_t event) {
  return with_context([&] { return cuEventDestroy(event); });
}

cudaError_t cudaEventElapsedTime(float* milliseconds, cudaEvent_t start, cudaEvent_t end) {
  return with_context([&] { return cuEventElapsedTime(milliseconds, start, end); });
}

}  // extern "C"
