// Libraries: code that belongs to no context.
#include <string>

#include "hostcuda/driver/api/code/find_in_code.hpp"
#include "hostcuda/driver/api/code/jit_log.hpp"
#include "hostcuda/driver/api/entry.hpp"

using namespace sluice::hostcuda;

namespace {

template <class Loader>
CUresult load(CUlibrary* library, unsigned count, CUjit_option* options, void** values,
              Loader loader) {
  return with_driver([&](Driver& driver) -> CUresult {
    if (library == nullptr) return CUDA_ERROR_INVALID_VALUE;
    JitLog log(count, options, values);
    if (!log.is_valid()) return CUDA_ERROR_INVALID_VALUE;
    std::shared_ptr<LoadedCode> code;
    const CUresult result = log.load(&code, loader);
    if (result != CUDA_SUCCESS) return result;
    code->set_is_library();
    driver.modules.add(code);
    *library = driver.libraries.add(std::move(code));
    return CUDA_SUCCESS;
  });
}

// with_library() calls body(Driver&, const std::shared_ptr<LoadedCode>&).
template <class Body>
CUresult with_library(CUlibrary handle, Body&& body) noexcept {
  return with_driver([&](Driver& driver) -> CUresult {
    const std::shared_ptr<LoadedCode> code = driver.libraries.find(handle);
    return code == nullptr ? CUDA_ERROR_INVALID_HANDLE : body(driver, code);
  });
}

}  // namespace

CUresult cuLibraryLoadData(CUlibrary* library, const void* image, CUjit_option* options,
                           void** values, unsigned int count, CUlibraryOption*, void**,
                           unsigned int) {
  if (image == nullptr) return CUDA_ERROR_INVALID_VALUE;
  return load(library, count, options, values, [image](auto* code, std::string* message) {
    return LoadedCode::load(image, code, message);
  });
}

CUresult cuLibraryLoadFromFile(CUlibrary* library, const char* path, CUjit_option* options,
                               void** values, unsigned int count, CUlibraryOption*, void**,
                               unsigned int) {
  if (path == nullptr) return CUDA_ERROR_INVALID_VALUE;
  return load(library, count, options, values, [path](auto* code, std::string* message) {
    return LoadedCode::load_file(path, code, message);
  });
}

CUresult cuLibraryUnload(CUlibrary handle) {
  return with_driver([&](Driver& driver) -> CUresult {
    const std::shared_ptr<LoadedCode> code = driver.libraries.remove(handle);
    return code == nullptr ? CUDA_ERROR_INVALID_HANDLE : driver.release_code(code);
  });
}

CUresult cuLibraryGetKernel(CUkernel* kernel, CUlibrary handle, const char* name) {
  return with_library(handle, [&](Driver& driver, const std::shared_ptr<LoadedCode>& code) {
    return find_kernel(driver, code, name, reinterpret_cast<CUfunction*>(kernel));
  });
}

CUresult cuLibraryGetKernelCount(unsigned int* count, CUlibrary handle) {
  return with_library(handle, [&](Driver&, const std::shared_ptr<LoadedCode>& code) -> CUresult {
    if (count == nullptr) return CUDA_ERROR_INVALID_VALUE;
    *count = static_cast<unsigned>(code->kernel_names().size());
    return CUDA_SUCCESS;
  });
}

CUresult cuLibraryEnumerateKernels(CUkernel* kernels, unsigned int count, CUlibrary handle) {
  return with_library(handle, [&](Driver& driver, const std::shared_ptr<LoadedCode>& code) {
    return enumerate_kernels(driver, code, reinterpret_cast<CUfunction*>(kernels), count);
  });
}

CUresult cuLibraryGetModule(CUmodule* module, CUlibrary handle) {
  return with_library(handle, [&](Driver&, const std::shared_ptr<LoadedCode>& code) -> CUresult {
    if (module == nullptr) return CUDA_ERROR_INVALID_VALUE;
    *module = code->module();
    return CUDA_SUCCESS;
  });
}

CUresult cuLibraryGetGlobal(CUdeviceptr* pointer, size_t* bytes, CUlibrary handle,
                            const char* name) {
  return with_library(handle, [&](Driver& driver, const std::shared_ptr<LoadedCode>& code) {
    return find_variable(driver, code, name, pointer, bytes);
  });
}

// A managed variable is a variable that the host may touch, which holds for all of them here.
CUresult cuLibraryGetManaged(CUdeviceptr* pointer, size_t* bytes, CUlibrary handle,
                             const char* name) {
  return cuLibraryGetGlobal(pointer, bytes, handle, name);
}
