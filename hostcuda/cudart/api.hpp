// What every entry point of libcudart stands on: the thread's last error and the wrappers that each
// exported function runs its body in.
//
// The runtime API is a thin layer on a driver API: cu* functions are called as undefined symbols of
// libcuda.so.1, so that whichever library of that name the process loaded first sees every call.
#pragma once

#include <cstdint>

#include <cuda.h>
#include <cuda_runtime_api.h>

#include "hostcuda/cudart/context.hpp"

namespace sluice::cudart {

// to_error() gives the runtime's error for a driver's result. Since CUDA 10.1 the two share their
// numbers; a number that the runtime does not know is cudaErrorUnknown.
cudaError_t to_error(CUresult result);
inline cudaError_t to_error(cudaError_t error) {
  return error;
}

// record() keeps a failure as the calling thread's last error and returns `error`.
cudaError_t record(cudaError_t error);

// answer_to() takes the answer of a query on its way to `caller`, an address in the code that
// asked: "not ready" is the last error of that program or library alone. Returns `error`.
cudaError_t answer_to(void* caller, cudaError_t error);

// forget_errors() ends the life of errors that only a reset of the device can clear, on all
// threads.
void forget_errors();

// unsupported() logs once per function that it is a limit of this library, and records
// cudaErrorNotSupported.
cudaError_t unsupported(const char* function);

// with_context() makes a context current, runs `body` (which returns a CUresult or a cudaError_t)
// and records a failure. No exception leaves it: C code is above.
template <class Body>
cudaError_t with_context(Body&& body) noexcept {
  cudaError_t error = bind_context();
  if (error == cudaSuccess) error = to_error(body());
  return error == cudaSuccess ? error : record(error);
}

// with_driver() is the same for what needs the driver but no context.
template <class Body>
cudaError_t with_driver(Body&& body) noexcept {
  cudaError_t error = initialise_driver();
  if (error == cudaSuccess) error = to_error(body());
  return error == cudaSuccess ? error : record(error);
}

// per_thread() is the stream that `stream` means in a build with --default-stream per-thread.
inline cudaStream_t per_thread(cudaStream_t stream) {
  return stream == nullptr ? cudaStreamPerThread : stream;
}

inline CUdeviceptr device_address(const void* pointer) {
  return reinterpret_cast<CUdeviceptr>(pointer);
}
inline CUdeviceptr* device_address(void** pointer) {
  return reinterpret_cast<CUdeviceptr*>(pointer);
}

}  // namespace sluice::cudart
