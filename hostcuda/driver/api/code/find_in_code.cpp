#include "hostcuda/driver/api/code/find_in_code.hpp"

#include <algorithm>
#include <string>
#include <vector>

namespace sluice::hostcuda {

CUresult find_kernel(Driver& driver, const std::shared_ptr<LoadedCode>& code, const char* name,
                     CUfunction* function) {
  if (name == nullptr || function == nullptr) return CUDA_ERROR_INVALID_VALUE;
  Kernel* kernel = nullptr;
  const CUresult result = code->kernel(name, &kernel);
  if (result != CUDA_SUCCESS) return result;
  // The handle keeps the whole code: a kernel is a part of it.
  *function = driver.kernels.add(std::shared_ptr<Kernel>(code, kernel));
  return CUDA_SUCCESS;
}

CUresult enumerate_kernels(Driver& driver, const std::shared_ptr<LoadedCode>& code,
                           CUfunction* functions, unsigned count) {
  if (functions == nullptr) return CUDA_ERROR_INVALID_VALUE;
  const std::vector<std::string> names = code->kernel_names();
  const size_t end = std::min<size_t>(count, names.size());
  for (size_t i = 0; i < end; ++i) {
    const CUresult result = find_kernel(driver, code, names[i].c_str(), &functions[i]);
    if (result != CUDA_SUCCESS) return result;
  }
  return CUDA_SUCCESS;
}

CUresult find_variable(Driver& driver, const std::shared_ptr<LoadedCode>& code, const char* name,
                       CUdeviceptr* pointer, size_t* bytes) {
  if (name == nullptr) return CUDA_ERROR_INVALID_VALUE;
  ModuleVariable variable;
  const CUresult result = code->variable(name, &variable);
  if (result != CUDA_SUCCESS) return result;
  const auto address = reinterpret_cast<uintptr_t>(variable.address);
  // A second look-up finds it entered already.
  driver.memory.add({.address = address,
                     .bytes = variable.bytes,
                     .kind = MemoryKind::variable,
                     .owner = code.get()});
  if (pointer != nullptr) *pointer = address;
  if (bytes != nullptr) *bytes = variable.bytes;
  return CUDA_SUCCESS;
}

}  // namespace sluice::hostcuda
