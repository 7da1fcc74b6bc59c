// What a kernel needs and how many of its blocks fit: function attributes and occupancy.
#include "hostcuda/cudart/api.hpp"
#include "hostcuda/cudart/code/registry.hpp"

using namespace sluice::cudart;

namespace {

// with_kernel() runs `body` with the kernel of a host function and the current device.
template <class Body>
cudaError_t with_kernel(const void* function, Body&& body) {
  return with_context([&] {
    CUkernel kernel = nullptr;
    CUdevice device = 0;
    cudaError_t error = find_kernel(function, &kernel);
    if (error == cudaSuccess) error = to_error(cuCtxGetDevice(&device));
    return error == cudaSuccess ? to_error(body(kernel, device)) : error;
  });
}

// with_function() runs `body` with the kernel's function in the current context.
template <class Body>
cudaError_t with_function(const void* kernel_function, Body&& body) {
  return with_kernel(kernel_function, [&](CUkernel kernel, CUdevice) {
    CUfunction function = nullptr;
    const CUresult result = cuKernelGetFunction(&function, kernel);
    return result == CUDA_SUCCESS ? body(function) : result;
  });
}

CUresult read_attributes(cudaFuncAttributes* all, CUkernel kernel, CUdevice device) {
  *all = {};
  CUresult result = CUDA_SUCCESS;
  const auto read = [&](CUfunction_attribute which) {
    int value = 0;
    if (result == CUDA_SUCCESS) result = cuKernelGetAttribute(&value, which, kernel, device);
    return value;
  };
  all->sharedSizeBytes = static_cast<size_t>(read(CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES));
  all->constSizeBytes = static_cast<size_t>(read(CU_FUNC_ATTRIBUTE_CONST_SIZE_BYTES));
  all->localSizeBytes = static_cast<size_t>(read(CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES));
  all->maxThreadsPerBlock = read(CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK);
  all->numRegs = read(CU_FUNC_ATTRIBUTE_NUM_REGS);
  all->ptxVersion = read(CU_FUNC_ATTRIBUTE_PTX_VERSION);
  all->binaryVersion = read(CU_FUNC_ATTRIBUTE_BINARY_VERSION);
  all->cacheModeCA = read(CU_FUNC_ATTRIBUTE_CACHE_MODE_CA);
  all->maxDynamicSharedSizeBytes = read(CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES);
  all->preferredShmemCarveout = read(CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT);
  all->clusterDimMustBeSet = read(CU_FUNC_ATTRIBUTE_CLUSTER_SIZE_MUST_BE_SET);
  all->requiredClusterWidth = read(CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_WIDTH);
  all->requiredClusterHeight = read(CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_HEIGHT);
  all->requiredClusterDepth = read(CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_DEPTH);
  all->clusterSchedulingPolicyPreference =
      read(CU_FUNC_ATTRIBUTE_CLUSTER_SCHEDULING_POLICY_PREFERENCE);
  all->nonPortableClusterSizeAllowed = read(CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED);
  return result;
}

}  // namespace

extern "C" {

cudaError_t cudaFuncGetAttributes(cudaFuncAttributes* attributes, const void* function) {
  return with_kernel(function, [&](CUkernel kernel, CUdevice device) {
    return attributes == nullptr ? CUDA_ERROR_INVALID_VALUE
                                 : read_attributes(attributes, kernel, device);
  });
}

// Both APIs number the attributes alike.
cudaError_t cudaFuncSetAttribute(const void* function, cudaFuncAttribute attribute, int value) {
  return with_kernel(function, [&](CUkernel kernel, CUdevice device) {
    return cuKernelSetAttribute(static_cast<CUfunction_attribute>(attribute), value, kernel,
                                device);
  });
}

cudaError_t cudaKernelSetAttributeForDevice(cudaKernel_t kernel, cudaFuncAttribute attribute,
                                            int value, int device) {
  return with_driver([&] {
    return cuKernelSetAttribute(static_cast<CUfunction_attribute>(attribute), value, kernel,
                                device);
  });
}

// A preference that a device is free to ignore: only the function is checked.
cudaError_t cudaFuncSetCacheConfig(const void* function, cudaFuncCache) {
  return with_kernel(function, [](CUkernel, CUdevice) { return CUDA_SUCCESS; });
}

cudaError_t cudaFuncSetSharedMemConfig(const void* function, cudaSharedMemConfig) {
  return with_kernel(function, [](CUkernel, CUdevice) { return CUDA_SUCCESS; });
}

cudaError_t cudaFuncGetName(const char** name, const void* function) {
  return with_kernel(function,
                     [&](CUkernel kernel, CUdevice) { return cuKernelGetName(name, kernel); });
}

cudaError_t cudaFuncGetParamInfo(const void* function, size_t index, size_t* offset, size_t* size) {
  return with_kernel(function, [&](CUkernel kernel, CUdevice) {
    return cuKernelGetParamInfo(kernel, index, offset, size);
  });
}

cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(
    int* blocks, const void* function, int block_size, size_t dynamic_shared, unsigned flags) {
  return with_function(function, [&](CUfunction kernel) {
    return cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(blocks, kernel, block_size,
                                                                dynamic_shared, flags);
  });
}

cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks, const void* function,
                                                          int block_size, size_t dynamic_shared) {
  return cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(blocks, function, block_size,
                                                                dynamic_shared, 0);
}

cudaError_t cudaOccupancyAvailableDynamicSMemPerBlock(size_t* bytes, const void* function,
                                                      int blocks, int block_size) {
  return with_function(function, [&](CUfunction kernel) {
    return cuOccupancyAvailableDynamicSMemPerBlock(bytes, kernel, blocks, block_size);
  });
}

}  // extern "C"
