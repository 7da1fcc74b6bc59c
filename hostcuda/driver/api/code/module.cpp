// Modules.
#include <algorithm>
#include <string>

#include "hostcuda/driver/api/code/find_in_code.hpp"
#include "hostcuda/driver/api/code/jit_log.hpp"
#include "hostcuda/driver/api/entry.hpp"

using namespace sluice::hostcuda;

namespace {

// load() makes a module of the current context with what loader(code, message) loads.
template <class Loader>
CUresult load(CUmodule* module, unsigned count, CUjit_option* options, void** values,
              Loader loader) {
  return with_context([&](Driver& driver, Context& context) -> CUresult {
    if (module == nullptr) return CUDA_ERROR_INVALID_VALUE;
    JitLog log(count, options, values);
    if (!log.is_valid()) return CUDA_ERROR_INVALID_VALUE;
    std::shared_ptr<LoadedCode> code;
    const CUresult result = log.load(&code, loader);
    if (result != CUDA_SUCCESS) return result;
    code->set_context(&context);
    *module = driver.modules.add(std::move(code));
    return CUDA_SUCCESS;
  });
}

}  // namespace

CUresult cuModuleLoad(CUmodule* module, const char* path) {
  if (path == nullptr) return CUDA_ERROR_INVALID_VALUE;
  return load(module, 0, nullptr, nullptr, [path](auto* code, std::string* message) {
    return LoadedCode::load_file(path, code, message);
  });
}

CUresult cuModuleLoadDataEx(CUmodule* module, const void* image, unsigned int count,
                            CUjit_option* options, void** values) {
  if (image == nullptr) return CUDA_ERROR_INVALID_VALUE;
  return load(module, count, options, values, [image](auto* code, std::string* message) {
    return LoadedCode::load(image, code, message);
  });
}

CUresult cuModuleLoadData(CUmodule* module, const void* image) {
  return cuModuleLoadDataEx(module, image, 0, nullptr, nullptr);
}

CUresult cuModuleLoadFatBinary(CUmodule* module, const void* image) {
  return cuModuleLoadDataEx(module, image, 0, nullptr, nullptr);
}

CUresult cuModuleUnload(CUmodule handle) {
  return with_context([&](Driver& driver, Context&) -> CUresult {
    const std::shared_ptr<LoadedCode> code = driver.modules.find(handle);
    if (code == nullptr) return CUDA_ERROR_INVALID_HANDLE;
    if (code->is_library()) return CUDA_ERROR_NOT_PERMITTED;
    return driver.release_code(code);
  });
}

CUresult cuModuleGetLoadingMode(CUmoduleLoadingMode* mode) {
  return with_driver([&](Driver&) -> CUresult {
    if (mode == nullptr) return CUDA_ERROR_INVALID_VALUE;
    *mode = CU_MODULE_LAZY_LOADING;
    return CUDA_SUCCESS;
  });
}

CUresult cuModuleGetFunction(CUfunction* function, CUmodule handle, const char* name) {
  return with_context([&](Driver& driver, Context&) -> CUresult {
    const std::shared_ptr<LoadedCode> code = driver.modules.find(handle);
    if (code == nullptr) return CUDA_ERROR_INVALID_HANDLE;
    return find_kernel(driver, code, name, function);
  });
}

CUresult cuModuleGetFunctionCount(unsigned int* count, CUmodule handle) {
  return with_context([&](Driver& driver, Context&) -> CUresult {
    const std::shared_ptr<LoadedCode> code = driver.modules.find(handle);
    if (code == nullptr) return CUDA_ERROR_INVALID_HANDLE;
    if (count == nullptr) return CUDA_ERROR_INVALID_VALUE;
    *count = static_cast<unsigned>(code->kernel_names().size());
    return CUDA_SUCCESS;
  });
}

CUresult cuModuleEnumerateFunctions(CUfunction* functions, unsigned int count, CUmodule handle) {
  return with_context([&](Driver& driver, Context&) -> CUresult {
    const std::shared_ptr<LoadedCode> code = driver.modules.find(handle);
    if (code == nullptr) return CUDA_ERROR_INVALID_HANDLE;
    return enumerate_kernels(driver, code, functions, count);
  });
}

CUresult cuModuleGetGlobal_v2(CUdeviceptr* pointer, size_t* bytes, CUmodule handle,
                              const char* name) {
  return with_context([&](Driver& driver, Context&) -> CUresult {
    const std::shared_ptr<LoadedCode> code = driver.modules.find(handle);
    if (code == nullptr) return CUDA_ERROR_INVALID_HANDLE;
    return find_variable(driver, code, name, pointer, bytes);
  });
}
