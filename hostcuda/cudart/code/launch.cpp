// Kernel launches: the call configuration of <<<>>> and the launch functions.
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <iterator>

#include "hostcuda/cudart/api.hpp"
#include "hostcuda/cudart/code/registry.hpp"

using namespace sluice::cudart;

namespace {

// What <<<>>> pushed and the launch has not yet popped. It nests only where an argument of a launch
// launches, so a short array does; having no destructor, it works while a thread ends.
struct CallConfiguration {
  dim3 grid;
  dim3 block;
  size_t shared_bytes = 0;
  cudaStream_t stream = nullptr;
};
struct CallStack {
  CallConfiguration entries[32];
  unsigned depth = 0;
};
constinit thread_local CallStack calls;

// Why __cudaGetKernel() last failed. nvcc's code keeps the null handle, ignores the error and
// launches with that handle for ever after, on any thread.
std::atomic<cudaError_t> kernel_lookup_error{cudaErrorInvalidDeviceFunction};

int attribute(CUdevice_attribute which, CUdevice device) {
  int value = 0;
  return cuDeviceGetAttribute(&value, which, device) == CUDA_SUCCESS ? value : 0;
}

bool within(unsigned value, CUdevice_attribute limit, CUdevice device) {
  return value >= 1 && value <= static_cast<unsigned>(attribute(limit, device));
}

// launch_error() tells a wrong grid or block, which the driver calls an invalid value, apart from
// other failures. Only a failed launch pays for it.
cudaError_t launch_error(CUresult result, dim3 grid, dim3 block) {
  CUdevice device = 0;
  if (result != CUDA_ERROR_INVALID_VALUE || cuCtxGetDevice(&device) != CUDA_SUCCESS) {
    return to_error(result);
  }
  const uint64_t threads = uint64_t{block.x} * block.y * block.z;
  const bool valid = within(grid.x, CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_X, device) &&
                     within(grid.y, CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Y, device) &&
                     within(grid.z, CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Z, device) &&
                     within(block.x, CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_X, device) &&
                     within(block.y, CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Y, device) &&
                     within(block.z, CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Z, device) &&
                     threads <= static_cast<uint64_t>(
                                    attribute(CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK, device));
  return valid ? cudaErrorInvalidValue : cudaErrorInvalidConfiguration;
}

cudaError_t launch(CUkernel kernel, dim3 grid, dim3 block, void** arguments, size_t shared_bytes,
                   cudaStream_t stream) {
  const CUresult result =
      cuLaunchKernel(reinterpret_cast<CUfunction>(kernel), grid.x, grid.y, grid.z, block.x, block.y,
                     block.z, static_cast<unsigned>(shared_bytes), stream, arguments, nullptr);
  return result == CUDA_SUCCESS ? cudaSuccess : launch_error(result, grid, block);
}

// A launch attribute is handed on as it is: both APIs share numbers and layout.
static_assert(sizeof(cudaLaunchAttribute) == sizeof(CUlaunchAttribute));
static_assert(offsetof(cudaLaunchAttribute, val) == offsetof(CUlaunchAttribute, value));

cudaError_t launch_with_attributes(const cudaLaunchConfig_t& config, CUkernel kernel,
                                   void** arguments, cudaStream_t stream) {
  CUlaunchConfig driver_config{};
  driver_config.gridDimX = config.gridDim.x;
  driver_config.gridDimY = config.gridDim.y;
  driver_config.gridDimZ = config.gridDim.z;
  driver_config.blockDimX = config.blockDim.x;
  driver_config.blockDimY = config.blockDim.y;
  driver_config.blockDimZ = config.blockDim.z;
  driver_config.sharedMemBytes = static_cast<unsigned>(config.dynamicSmemBytes);
  driver_config.hStream = stream;
  driver_config.attrs = reinterpret_cast<CUlaunchAttribute*>(config.attrs);
  driver_config.numAttrs = config.numAttrs;
  const CUresult result =
      cuLaunchKernelEx(&driver_config, reinterpret_cast<CUfunction>(kernel), arguments, nullptr);
  return result == CUDA_SUCCESS ? cudaSuccess
                                : launch_error(result, config.gridDim, config.blockDim);
}

cudaError_t launch_ex(const cudaLaunchConfig_t* config, const void* function, void** arguments,
                      bool stream_per_thread) {
  return with_context([&] {
    if (config == nullptr) return cudaErrorInvalidValue;
    const cudaStream_t stream = stream_per_thread ? per_thread(config->stream) : config->stream;
    CUkernel kernel = nullptr;
    const cudaError_t error = find_kernel(function, &kernel);
    if (error != cudaSuccess) return error;
    return launch_with_attributes(*config, kernel, arguments, stream);
  });
}

}  // namespace

extern "C" {

unsigned __cudaPushCallConfiguration(dim3 grid, dim3 block, size_t shared_bytes,
                                     CUstream_st* stream) {
  if (calls.depth == std::size(calls.entries)) return record(cudaErrorInvalidConfiguration);
  calls.entries[calls.depth++] = {grid, block, shared_bytes, stream};
  return cudaSuccess;
}

cudaError_t __cudaPopCallConfiguration(dim3* grid, dim3* block, size_t* shared_bytes,
                                       void* stream) {
  if (calls.depth == 0) return record(cudaErrorMissingConfiguration);
  const CallConfiguration& call = calls.entries[--calls.depth];
  *grid = call.grid;
  *block = call.block;
  *shared_bytes = call.shared_bytes;
  *static_cast<cudaStream_t*>(stream) = call.stream;
  return cudaSuccess;
}

cudaError_t __cudaGetKernel(cudaKernel_t* kernel, const void* function) {
  const cudaError_t error = cudaGetKernel(kernel, function);
  if (error != cudaSuccess) kernel_lookup_error.store(error, std::memory_order_relaxed);
  return error;
}

cudaError_t __cudaLaunchKernel(cudaKernel_t kernel, dim3 grid, dim3 block, void** arguments,
                               size_t shared_bytes, cudaStream_t stream) {
  return with_context([&] {
    if (kernel == nullptr) return kernel_lookup_error.load(std::memory_order_relaxed);
    return launch(kernel, grid, block, arguments, shared_bytes, stream);
  });
}

cudaError_t __cudaLaunchKernel_ptsz(cudaKernel_t kernel, dim3 grid, dim3 block, void** arguments,
                                    size_t shared_bytes, cudaStream_t stream) {
  return __cudaLaunchKernel(kernel, grid, block, arguments, shared_bytes, per_thread(stream));
}

cudaError_t cudaGetKernel(cudaKernel_t* kernel, const void* function) {
  return with_context(
      [&] { return kernel == nullptr ? cudaErrorInvalidValue : find_kernel(function, kernel); });
}

cudaError_t cudaGetFuncBySymbol(cudaFunction_t* result, const void* function) {
  return with_context([&] {
    CUkernel kernel = nullptr;
    const cudaError_t error =
        result == nullptr ? cudaErrorInvalidValue : find_kernel(function, &kernel);
    return error == cudaSuccess ? to_error(cuKernelGetFunction(result, kernel)) : error;
  });
}

cudaError_t cudaLaunchKernel(const void* function, dim3 grid, dim3 block, void** arguments,
                             size_t shared_bytes, cudaStream_t stream) {
  return with_context([&] {
    CUkernel kernel = nullptr;
    const cudaError_t error = find_kernel(function, &kernel);
    if (error != cudaSuccess) return error;
    return launch(kernel, grid, block, arguments, shared_bytes, stream);
  });
}

cudaError_t cudaLaunchKernel_ptsz(const void* function, dim3 grid, dim3 block, void** arguments,
                                  size_t shared_bytes, cudaStream_t stream) {
  return cudaLaunchKernel(function, grid, block, arguments, shared_bytes, per_thread(stream));
}

cudaError_t cudaLaunchKernelExC(const cudaLaunchConfig_t* config, const void* function,
                                void** arguments) {
  return launch_ex(config, function, arguments, false);
}

cudaError_t cudaLaunchKernelExC_ptsz(const cudaLaunchConfig_t* config, const void* function,
                                     void** arguments) {
  return launch_ex(config, function, arguments, true);
}

cudaError_t cudaLaunchCooperativeKernel(const void* function, dim3 grid, dim3 block,
                                        void** arguments, size_t shared_bytes,
                                        cudaStream_t stream) {
  return with_context([&] {
    CUkernel kernel = nullptr;
    const cudaError_t error = find_kernel(function, &kernel);
    if (error != cudaSuccess) return error;
    const CUresult result = cuLaunchCooperativeKernel(
        reinterpret_cast<CUfunction>(kernel), grid.x, grid.y, grid.z, block.x, block.y, block.z,
        static_cast<unsigned>(shared_bytes), stream, arguments);
    return result == CUDA_SUCCESS ? cudaSuccess : launch_error(result, grid, block);
  });
}

cudaError_t cudaLaunchCooperativeKernel_ptsz(const void* function, dim3 grid, dim3 block,
                                             void** arguments, size_t shared_bytes,
                                             cudaStream_t stream) {
  return cudaLaunchCooperativeKernel(function, grid, block, arguments, shared_bytes,
                                     per_thread(stream));
}

}  // extern "C"
