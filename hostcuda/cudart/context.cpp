#include "hostcuda/cudart/context.hpp"

#include <mutex>
#include <vector>

#include "hostcuda/cudart/api.hpp"

namespace sluice::cudart {
namespace {

constexpr int oldest_driver = 13000;

thread_local int thread_device = 0;

// The primary contexts that this library retained, by device. Leaked: a program's own exit handlers
// may call the runtime after the static objects of a library are gone.
struct PrimaryContexts {
  std::mutex mutex;
  std::vector<CUcontext> by_device;
};

PrimaryContexts& primary_contexts() {
  static PrimaryContexts* contexts = new PrimaryContexts;
  return *contexts;
}

cudaError_t start_driver() {
  int version = 0;
  CUresult result = cuInit(0);
  if (result != CUDA_SUCCESS) return to_error(result);
  result = cuDriverGetVersion(&version);
  if (result != CUDA_SUCCESS) return to_error(result);
  return version < oldest_driver ? cudaErrorInsufficientDriver : cudaSuccess;
}

cudaError_t retain_primary(int ordinal, CUcontext* context) {
  PrimaryContexts& contexts = primary_contexts();
  const std::lock_guard lock(contexts.mutex);
  const size_t index = static_cast<size_t>(ordinal);
  if (index >= contexts.by_device.size()) contexts.by_device.resize(index + 1, nullptr);
  if (contexts.by_device[index] == nullptr) {
    CUdevice device = 0;
    CUresult result = cuDeviceGet(&device, ordinal);
    if (result == CUDA_SUCCESS) {
      result = cuDevicePrimaryCtxRetain(&contexts.by_device[index], device);
    }
    if (result != CUDA_SUCCESS) {
      contexts.by_device[index] = nullptr;
      return to_error(result);
    }
  }
  *context = contexts.by_device[index];
  return cudaSuccess;
}

cudaError_t make_primary_current(int ordinal) {
  CUcontext context = nullptr;
  const cudaError_t error = retain_primary(ordinal, &context);
  return error == cudaSuccess ? to_error(cuCtxSetCurrent(context)) : error;
}

}  // namespace

cudaError_t initialise_driver() {
  static const cudaError_t answer = start_driver();
  return answer;
}

cudaError_t bind_context() {
  const cudaError_t error = initialise_driver();
  if (error != cudaSuccess) return error;
  CUcontext current = nullptr;
  if (cuCtxGetCurrent(&current) == CUDA_SUCCESS && current != nullptr) return cudaSuccess;
  return make_primary_current(thread_device);
}

cudaError_t check_device(int ordinal) {
  int count = 0;
  const CUresult result = cuDeviceGetCount(&count);
  if (result != CUDA_SUCCESS) return to_error(result);
  if (count == 0) return cudaErrorNoDevice;
  return ordinal >= 0 && ordinal < count ? cudaSuccess : cudaErrorInvalidDevice;
}

cudaError_t set_device(int ordinal) {
  cudaError_t error = check_device(ordinal);
  if (error == cudaSuccess) error = make_primary_current(ordinal);
  if (error == cudaSuccess) thread_device = ordinal;
  return error;
}

cudaError_t current_device(int* ordinal) {
  const cudaError_t error = initialise_driver();
  if (error != cudaSuccess) return error;
  CUcontext current = nullptr;
  CUdevice device = 0;
  if (cuCtxGetCurrent(&current) == CUDA_SUCCESS && current != nullptr &&
      cuCtxGetDevice(&device) == CUDA_SUCCESS) {
    *ordinal = device;
  } else {
    *ordinal = thread_device;
  }
  return cudaSuccess;
}

cudaError_t reset_device() {
  int ordinal = 0;
  cudaError_t error = current_device(&ordinal);
  if (error != cudaSuccess) return error;
  PrimaryContexts& contexts = primary_contexts();
  {
    const std::lock_guard lock(contexts.mutex);
    CUdevice device = 0;
    CUresult result = cuDeviceGet(&device, ordinal);
    if (result == CUDA_SUCCESS) result = cuDevicePrimaryCtxReset(device);
    if (result != CUDA_SUCCESS) return to_error(result);
    const size_t index = static_cast<size_t>(ordinal);
    if (index < contexts.by_device.size()) contexts.by_device[index] = nullptr;
  }
  thread_device = ordinal;
  forget_errors();
  return to_error(cuCtxSetCurrent(nullptr));
}

}  // namespace sluice::cudart
