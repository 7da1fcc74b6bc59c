// Kernels and variables of loaded code, as handles and addresses that the driver knows.
#pragma once

#include <memory>

#include "hostcuda/driver/device/cuda_api.hpp"
#include "hostcuda/driver/driver.hpp"

namespace sluice::hostcuda {

// find_kernel() registers the kernel's handle. CUDA_ERROR_NOT_FOUND where there is no such kernel.
CUresult find_kernel(Driver& driver, const std::shared_ptr<LoadedCode>& code, const char* name,
                     CUfunction* function);

// enumerate_kernels() writes the handles of the first `count` kernels.
CUresult enumerate_kernels(Driver& driver, const std::shared_ptr<LoadedCode>& code,
                           CUfunction* functions, unsigned count);

// find_variable() enters the variable into the allocation table, so that copies may touch it.
// Either of `pointer` and `bytes` may be nullptr.
CUresult find_variable(Driver& driver, const std::shared_ptr<LoadedCode>& code, const char* name,
                       CUdeviceptr* pointer, size_t* bytes);

}  // namespace sluice::hostcuda
