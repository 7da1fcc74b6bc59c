// Devices: choosing one, its limits and flags, waiting for it and resetting it.
#include "hostcuda/cudart/api.hpp"

using namespace sluice::cudart;

extern "C" {

cudaError_t cudaGetDeviceCount(int* count) {
  return with_driver([&] {
    if (count == nullptr) return cudaErrorInvalidValue;
    const cudaError_t error = to_error(cuDeviceGetCount(count));
    return error == cudaSuccess && *count == 0 ? cudaErrorNoDevice : error;
  });
}

cudaError_t cudaSetDevice(int device) {
  return with_driver([&] { return set_device(device); });
}

cudaError_t cudaGetDevice(int* device) {
  return with_driver(
      [&] { return device == nullptr ? cudaErrorInvalidValue : current_device(device); });
}

cudaError_t cudaInitDevice(int device, unsigned device_flags, unsigned flags) {
  return with_driver([&] {
    cudaError_t error = check_device(device);
    if (error == cudaSuccess && (flags & cudaInitDeviceFlagsAreValid) != 0) {
      error = to_error(cuDevicePrimaryCtxSetFlags(device, device_flags));
    }
    return error;
  });
}

// The first device that exists is as good as any other: nothing is promised about the choice.
cudaError_t cudaChooseDevice(int* device, const cudaDeviceProp* properties) {
  return with_driver([&] {
    if (device == nullptr || properties == nullptr) return cudaErrorInvalidValue;
    *device = 0;
    return check_device(0);
  });
}

cudaError_t cudaSetValidDevices(int* devices, int count) {
  return with_driver([&] {
    if (count < 0 || (devices == nullptr && count > 0)) return cudaErrorInvalidValue;
    for (int i = 0; i < count; ++i) {
      const cudaError_t error = check_device(devices[i]);
      if (error != cudaSuccess) return error;
    }
    return cudaSuccess;
  });
}

cudaError_t cudaSetDeviceFlags(unsigned flags) {
  return with_driver([&] {
    int device = 0;
    const cudaError_t error = current_device(&device);
    // Whether host memory is mapped is no choice any more: it always is.
    const unsigned driver_flags = flags & ~static_cast<unsigned>(cudaDeviceMapHost);
    return error == cudaSuccess ? to_error(cuDevicePrimaryCtxSetFlags(device, driver_flags))
                                : error;
  });
}

cudaError_t cudaGetDeviceFlags(unsigned* flags) {
  return with_driver([&] {
    int device = 0;
    int active = 0;
    cudaError_t error = flags == nullptr ? cudaErrorInvalidValue : current_device(&device);
    if (error == cudaSuccess) error = to_error(cuDevicePrimaryCtxGetState(device, flags, &active));
    if (error == cudaSuccess) *flags |= cudaDeviceMapHost;
    return error;
  });
}

cudaError_t cudaDeviceSynchronize() {
  return with_context([] { return cuCtxSynchronize(); });
}

cudaError_t cudaDeviceReset() {
  return with_driver([] { return reset_device(); });
}

// Both APIs number limits and cache preferences alike.
cudaError_t cudaDeviceGetLimit(size_t* value, cudaLimit limit) {
  return with_context([&] { return cuCtxGetLimit(value, static_cast<CUlimit>(limit)); });
}

cudaError_t cudaDeviceSetLimit(cudaLimit limit, size_t value) {
  return with_context([&] { return cuCtxSetLimit(static_cast<CUlimit>(limit), value); });
}

cudaError_t cudaDeviceGetCacheConfig(cudaFuncCache* config) {
  return with_context([&] {
    CUfunc_cache driver_config = CU_FUNC_CACHE_PREFER_NONE;
    if (config == nullptr) return CUDA_ERROR_INVALID_VALUE;
    const CUresult result = cuCtxGetCacheConfig(&driver_config);
    *config = static_cast<cudaFuncCache>(driver_config);
    return result;
  });
}

cudaError_t cudaDeviceSetCacheConfig(cudaFuncCache config) {
  return with_context([&] { return cuCtxSetCacheConfig(static_cast<CUfunc_cache>(config)); });
}

// No device of CUDA 13 has shared memory with a choice of bank size.
cudaError_t cudaDeviceGetSharedMemConfig(cudaSharedMemConfig* config) {
  return with_driver([&] {
    if (config == nullptr) return cudaErrorInvalidValue;
    *config = cudaSharedMemBankSizeFourByte;
    return cudaSuccess;
  });
}

cudaError_t cudaDeviceSetSharedMemConfig(cudaSharedMemConfig) {
  return with_driver([] { return cudaSuccess; });
}

cudaError_t cudaDeviceGetStreamPriorityRange(int* least, int* greatest) {
  return with_context([&] { return cuCtxGetStreamPriorityRange(least, greatest); });
}

cudaError_t cudaCtxResetPersistingL2Cache() {
  return with_context([] { return cuCtxResetPersistingL2Cache(); });
}

cudaError_t cudaDeviceGetPCIBusId(char* text, int length, int device) {
  return with_driver([&] { return cuDeviceGetPCIBusId(text, length, device); });
}

cudaError_t cudaDeviceGetByPCIBusId(int* device, const char* text) {
  return with_driver([&] { return cuDeviceGetByPCIBusId(device, text); });
}

cudaError_t cudaDeviceCanAccessPeer(int* can_access, int device, int peer) {
  return with_driver([&] { return cuDeviceCanAccessPeer(can_access, device, peer); });
}

// No device is a peer: of one that cudaDeviceCanAccessPeer() denies, CUDA says that it is invalid.
cudaError_t cudaDeviceEnablePeerAccess(int /*peer*/, unsigned int flags) {
  return with_context(
      [&] { return flags != 0 ? CUDA_ERROR_INVALID_VALUE : CUDA_ERROR_INVALID_DEVICE; });
}

cudaError_t cudaDeviceDisablePeerAccess(int peer) {
  return with_context(
      [&] { return peer == 0 ? CUDA_ERROR_PEER_ACCESS_NOT_ENABLED : CUDA_ERROR_INVALID_DEVICE; });
}

// A profiler that wants these calls wraps them; there is nothing else to switch on or off.
cudaError_t cudaProfilerStart() {
  return with_context([] { return CUDA_SUCCESS; });
}

cudaError_t cudaProfilerStop() {
  return with_context([] { return CUDA_SUCCESS; });
}

}  // extern "C"
