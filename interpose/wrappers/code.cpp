// Modules, libraries and the functions in them.
#include <fstream>
#include <iterator>
#include <optional>
#include <string>
#include <vector>

#include "interpose/run_time_code/remembered_code.hpp"
#include "interpose/shim_device.hpp"
#include "interpose/wrappers/wrappers.hpp"

using namespace sluice::interpose;
using sluice::runtime::Runtime;
using sluice::runtime::VariableOf;

namespace {

template <class Handle>
CUresult note_code(CUresult result, const Handle* code, const void* image) {
  if (result == CUDA_SUCCESS) note_handle(*code);
  if (result != CUDA_SUCCESS || Shim::get().runtime() == nullptr) return result;
  const std::optional<std::string> ptx = remembered_ptx(image);
  return noted(result, &Runtime::code_loaded, code, ptx ? ptx->c_str() : image);
}

// The runtime reads images from memory; a file that the driver opened by name is read again.
template <class Handle>
CUresult note_code_file(CUresult result, const Handle* code, const char* path) {
  if (result != CUDA_SUCCESS || Shim::get().runtime() == nullptr) return result;
  std::ifstream file(path, std::ios::binary);
  std::vector<char> bytes(std::istreambuf_iterator<char>(file), {});
  bytes.push_back('\0');  // PTX text ends with a NUL
  return note_code(result, code, bytes.data());
}

void unload(void* code) {
  if (Runtime* runtime = Shim::get().runtime()) runtime->code_unloaded(code);
}

// find_variable() asks the driver where a variable lies, of which the program may want either word
// alone, and tells the runtime: kernels may get that address as an argument.
template <class Code>
CUresult find_variable(CUresult (*ask)(CUdeviceptr*, size_t*, Code, const char*),
                       CUdeviceptr* address, size_t* bytes, Code code, const char* name) {
  CUdeviceptr own_address = 0;
  size_t own_bytes = 0;
  if (address == nullptr) address = &own_address;
  if (bytes == nullptr) bytes = &own_bytes;
  const CUresult result = ask(address, bytes, code, name);
  return noted(result, &Runtime::memory_allocated, address, *bytes, VariableOf{code});
}

// is_set_to() is whether an attribute has the value already. Libraries set theirs before each
// launch: where nothing changes no window closes.
template <class Read>
bool is_set_to(int value, Read&& read) {
  int now = 0;
  return read(&now) == CUDA_SUCCESS && now == value;
}

}  // namespace

SLUICE_NOTED(cuModuleLoad, (CUmodule * module, const char* path), (module, path), note_code_file,
             module, path)
SLUICE_NOTED(cuModuleLoadData, (CUmodule * module, const void* image), (module, image), note_code,
             module, image)
SLUICE_NOTED(cuModuleLoadDataEx,
             (CUmodule * module, const void* image, unsigned int option_count,
              CUjit_option* options, void** values),
             (module, image, option_count, options, values), note_code, module, image)
SLUICE_NOTED(cuModuleLoadFatBinary, (CUmodule * module, const void* image), (module, image),
             note_code, module, image)
SLUICE_NOTED(cuModuleGetFunction, (CUfunction * function, CUmodule module, const char* name),
             (function, module, name), noted, &Runtime::function_found, function, module, name)
SLUICE_NOTED(cuLibraryLoadData,
             (CUlibrary * library, const void* image, CUjit_option* jit_options, void** jit_values,
              unsigned int jit_count, CUlibraryOption* options, void** values, unsigned int count),
             (library, image, jit_options, jit_values, jit_count, options, values, count),
             note_code, library, image)
SLUICE_NOTED(cuLibraryLoadFromFile,
             (CUlibrary * library, const char* path, CUjit_option* jit_options, void** jit_values,
              unsigned int jit_count, CUlibraryOption* options, void** values, unsigned int count),
             (library, path, jit_options, jit_values, jit_count, options, values, count),
             note_code_file, library, path)
SLUICE_NOTED(cuLibraryGetKernel, (CUkernel * kernel, CUlibrary library, const char* name),
             (kernel, library, name), noted, &Runtime::function_found, kernel, library, name)
SLUICE_NOTED(cuLibraryGetModule, (CUmodule * module, CUlibrary library), (module, library), noted,
             &Runtime::code_alias, module, library)
SLUICE_NOTED(cuKernelGetFunction, (CUfunction * function, CUkernel kernel), (function, kernel),
             noted, &Runtime::function_alias, function, kernel)

extern "C" CUresult sluice_wrap_cuModuleGetGlobal_v2(CUdeviceptr* address, size_t* bytes,
                                                     CUmodule module, const char* name) {
  const KeepErrno keep;
  return find_variable(driver().cuModuleGetGlobal_v2, address, bytes, module, name);
}

extern "C" CUresult sluice_wrap_cuLibraryGetGlobal(CUdeviceptr* address, size_t* bytes,
                                                   CUlibrary library, const char* name) {
  const KeepErrno keep;
  return find_variable(driver().cuLibraryGetGlobal, address, bytes, library, name);
}

extern "C" CUresult sluice_wrap_cuLibraryGetManaged(CUdeviceptr* address, size_t* bytes,
                                                    CUlibrary library, const char* name) {
  const KeepErrno keep;
  return find_variable(driver().cuLibraryGetManaged, address, bytes, library, name);
}

// What is held was accepted by the limits of before, and goes to the device under them.
extern "C" CUresult sluice_wrap_cuFuncSetAttribute(CUfunction function,
                                                   CUfunction_attribute attribute, int value) {
  const KeepErrno keep;
  const auto read = [&](int* now) {
    return driver().cuFuncGetAttribute == nullptr
               ? CUDA_ERROR_NOT_SUPPORTED
               : driver().cuFuncGetAttribute(now, attribute, function);
  };
  if (is_set_to(value, read)) return driver().cuFuncSetAttribute(function, attribute, value);
  flushed_runtime();
  const CUresult result = driver().cuFuncSetAttribute(function, attribute, value);
  return noted(result, &Runtime::function_changed, &function);
}

extern "C" CUresult sluice_wrap_cuKernelSetAttribute(CUfunction_attribute attribute, int value,
                                                     CUkernel kernel, CUdevice device) {
  const KeepErrno keep;
  const auto read = [&](int* now) {
    return driver().cuKernelGetAttribute == nullptr
               ? CUDA_ERROR_NOT_SUPPORTED
               : driver().cuKernelGetAttribute(now, attribute, kernel, device);
  };
  if (is_set_to(value, read))
    return driver().cuKernelSetAttribute(attribute, value, kernel, device);
  flushed_runtime();
  const CUresult result = driver().cuKernelSetAttribute(attribute, value, kernel, device);
  return noted(result, &Runtime::function_changed, &kernel);
}

SLUICE_TOLD(cuModuleUnload, (CUmodule module), (module), unload(module))
SLUICE_TOLD(cuLibraryUnload, (CUlibrary library), (library), unload(library))
