// Kernels: a CUkernel and its CUfunction are one object here.
#include "hostcuda/driver/api/entry.hpp"

using namespace sluice::hostcuda;

namespace {

// with_kernel() calls body(Kernel&).
template <class Body>
CUresult with_kernel(CUfunction function, Body&& body) noexcept {
  return with_driver([&](Driver& driver) -> CUresult {
    const std::shared_ptr<Kernel> kernel = driver.kernels.find(function);
    return kernel == nullptr ? CUDA_ERROR_INVALID_HANDLE : body(*kernel);
  });
}

CUfunction as_function(CUkernel kernel) {
  return reinterpret_cast<CUfunction>(kernel);
}

}  // namespace

CUresult cuFuncGetAttribute(int* value, CUfunction_attribute attribute, CUfunction function) {
  return with_kernel(function, [&](Kernel& kernel) -> CUresult {
    return value == nullptr ? CUDA_ERROR_INVALID_VALUE : kernel.get_attribute(attribute, value);
  });
}

CUresult cuFuncSetAttribute(CUfunction function, CUfunction_attribute attribute, int value) {
  return with_kernel(function,
                     [&](Kernel& kernel) { return kernel.set_attribute(attribute, value); });
}

CUresult cuFuncSetCacheConfig(CUfunction function, CUfunc_cache) {
  return with_kernel(function, [](Kernel&) { return CUDA_SUCCESS; });
}

CUresult cuFuncSetSharedMemConfig(CUfunction function, CUsharedconfig) {
  return with_kernel(function, [](Kernel&) { return CUDA_SUCCESS; });
}

CUresult cuFuncGetModule(CUmodule* module, CUfunction function) {
  return with_kernel(function, [&](Kernel& kernel) -> CUresult {
    if (module == nullptr) return CUDA_ERROR_INVALID_VALUE;
    *module = kernel.code().module();
    return CUDA_SUCCESS;
  });
}

CUresult cuFuncGetName(const char** name, CUfunction function) {
  return with_kernel(function, [&](Kernel& kernel) -> CUresult {
    if (name == nullptr) return CUDA_ERROR_INVALID_VALUE;
    *name = kernel.name().c_str();
    return CUDA_SUCCESS;
  });
}

CUresult cuFuncGetParamInfo(CUfunction function, size_t index, size_t* offset, size_t* size) {
  return with_kernel(function, [&](Kernel& kernel) -> CUresult {
    return offset == nullptr ? CUDA_ERROR_INVALID_VALUE : kernel.parameter(index, offset, size);
  });
}

CUresult cuFuncIsLoaded(CUfunctionLoadingState* state, CUfunction function) {
  return with_kernel(function, [&](Kernel&) -> CUresult {
    if (state == nullptr) return CUDA_ERROR_INVALID_VALUE;
    *state = CU_FUNCTION_LOADING_STATE_LOADED;
    return CUDA_SUCCESS;
  });
}

CUresult cuFuncLoad(CUfunction function) {
  return with_kernel(function, [](Kernel&) { return CUDA_SUCCESS; });
}

CUresult cuKernelGetFunction(CUfunction* function, CUkernel kernel) {
  return with_kernel(as_function(kernel), [&](Kernel& found) -> CUresult {
    if (function == nullptr) return CUDA_ERROR_INVALID_VALUE;
    *function = found.function();
    return CUDA_SUCCESS;
  });
}

CUresult cuKernelGetLibrary(CUlibrary* library, CUkernel kernel) {
  return with_kernel(as_function(kernel), [&](Kernel& found) -> CUresult {
    if (library == nullptr) return CUDA_ERROR_INVALID_VALUE;
    if (!found.code().is_library()) return CUDA_ERROR_INVALID_HANDLE;
    *library = found.code().library();
    return CUDA_SUCCESS;
  });
}

CUresult cuKernelGetAttribute(int* value, CUfunction_attribute attribute, CUkernel kernel,
                              CUdevice device) {
  if (device != 0) return CUDA_ERROR_INVALID_DEVICE;
  return cuFuncGetAttribute(value, attribute, as_function(kernel));
}

CUresult cuKernelSetAttribute(CUfunction_attribute attribute, int value, CUkernel kernel,
                              CUdevice device) {
  if (device != 0) return CUDA_ERROR_INVALID_DEVICE;
  return cuFuncSetAttribute(as_function(kernel), attribute, value);
}

CUresult cuKernelSetCacheConfig(CUkernel kernel, CUfunc_cache config, CUdevice device) {
  if (device != 0) return CUDA_ERROR_INVALID_DEVICE;
  return cuFuncSetCacheConfig(as_function(kernel), config);
}

CUresult cuKernelGetName(const char** name, CUkernel kernel) {
  return cuFuncGetName(name, as_function(kernel));
}

CUresult cuKernelGetParamInfo(CUkernel kernel, size_t index, size_t* offset, size_t* size) {
  return cuFuncGetParamInfo(as_function(kernel), index, offset, size);
}
