// Modules, libraries and the functions in them.
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "interpose/shim.hpp"
#include "interpose/shim_device.hpp"
#include "interpose/wrappers.hpp"

using namespace sluice::interpose;

namespace {

const DriverCalls& driver() {
  return Shim::get().calls();
}

void note_code(CUresult result, void* const* code, const void* image) {
  sluice::runtime::Runtime* runtime = Shim::get().runtime();
  if (result == CUDA_SUCCESS && runtime != nullptr) runtime->code_loaded(*code, image);
}

// The runtime reads images from memory; a file that the driver opened by name is read again.
void note_code_file(CUresult result, void* const* code, const char* path) {
  sluice::runtime::Runtime* runtime = Shim::get().runtime();
  if (result != CUDA_SUCCESS || runtime == nullptr) return;
  std::ifstream file(path, std::ios::binary);
  std::vector<char> bytes(std::istreambuf_iterator<char>(file), {});
  bytes.push_back('\0');  // PTX text ends with a NUL
  runtime->code_loaded(*code, bytes.data());
}

void note_function(CUresult result, void* const* function, void* code, const char* name) {
  sluice::runtime::Runtime* runtime = Shim::get().runtime();
  if (result == CUDA_SUCCESS && runtime != nullptr) runtime->function_found(*function, code, name);
}

template <class Handle>
void* const* erased(Handle* handle) {
  return reinterpret_cast<void* const*>(handle);
}

}  // namespace

extern "C" CUresult sluice_wrap_cuModuleLoad(CUmodule* module, const char* path) {
  const ErrnoGuard guard;
  const CUresult result = driver().cuModuleLoad(module, path);
  if (result == CUDA_SUCCESS) note_module(*module);
  note_code_file(result, erased(module), path);
  return result;
}

extern "C" CUresult sluice_wrap_cuModuleLoadData(CUmodule* module, const void* image) {
  const ErrnoGuard guard;
  const CUresult result = driver().cuModuleLoadData(module, image);
  if (result == CUDA_SUCCESS) note_module(*module);
  note_code(result, erased(module), image);
  return result;
}

extern "C" CUresult sluice_wrap_cuModuleLoadDataEx(CUmodule* module, const void* image,
                                                   unsigned int option_count, CUjit_option* options,
                                                   void** values) {
  const ErrnoGuard guard;
  const CUresult result = driver().cuModuleLoadDataEx(module, image, option_count, options, values);
  if (result == CUDA_SUCCESS) note_module(*module);
  note_code(result, erased(module), image);
  return result;
}

extern "C" CUresult sluice_wrap_cuModuleLoadFatBinary(CUmodule* module, const void* image) {
  const ErrnoGuard guard;
  const CUresult result = driver().cuModuleLoadFatBinary(module, image);
  if (result == CUDA_SUCCESS) note_module(*module);
  note_code(result, erased(module), image);
  return result;
}

extern "C" CUresult sluice_wrap_cuModuleUnload(CUmodule module) {
  const ErrnoGuard guard;
  if (sluice::runtime::Runtime* runtime = Shim::get().runtime()) runtime->code_unloaded(module);
  return driver().cuModuleUnload(module);
}

extern "C" CUresult sluice_wrap_cuModuleGetFunction(CUfunction* function, CUmodule module,
                                                    const char* name) {
  const ErrnoGuard guard;
  const CUresult result = driver().cuModuleGetFunction(function, module, name);
  note_function(result, erased(function), module, name);
  return result;
}

extern "C" CUresult sluice_wrap_cuLibraryLoadData(CUlibrary* library, const void* image,
                                                  CUjit_option* jit_options, void** jit_values,
                                                  unsigned int jit_count,
                                                  CUlibraryOption* library_options,
                                                  void** library_values,
                                                  unsigned int library_count) {
  const ErrnoGuard guard;
  const CUresult result =
      driver().cuLibraryLoadData(library, image, jit_options, jit_values, jit_count,
                                 library_options, library_values, library_count);
  if (result == CUDA_SUCCESS) note_library(*library);
  note_code(result, erased(library), image);
  return result;
}

extern "C" CUresult sluice_wrap_cuLibraryLoadFromFile(CUlibrary* library, const char* path,
                                                      CUjit_option* jit_options, void** jit_values,
                                                      unsigned int jit_count,
                                                      CUlibraryOption* library_options,
                                                      void** library_values,
                                                      unsigned int library_count) {
  const ErrnoGuard guard;
  const CUresult result =
      driver().cuLibraryLoadFromFile(library, path, jit_options, jit_values, jit_count,
                                     library_options, library_values, library_count);
  if (result == CUDA_SUCCESS) note_library(*library);
  note_code_file(result, erased(library), path);
  return result;
}

extern "C" CUresult sluice_wrap_cuLibraryUnload(CUlibrary library) {
  const ErrnoGuard guard;
  if (sluice::runtime::Runtime* runtime = Shim::get().runtime()) runtime->code_unloaded(library);
  return driver().cuLibraryUnload(library);
}

extern "C" CUresult sluice_wrap_cuLibraryGetKernel(CUkernel* kernel, CUlibrary library,
                                                   const char* name) {
  const ErrnoGuard guard;
  const CUresult result = driver().cuLibraryGetKernel(kernel, library, name);
  note_function(result, erased(kernel), library, name);
  return result;
}

extern "C" CUresult sluice_wrap_cuLibraryGetModule(CUmodule* module, CUlibrary library) {
  const ErrnoGuard guard;
  const CUresult result = driver().cuLibraryGetModule(module, library);
  sluice::runtime::Runtime* runtime = Shim::get().runtime();
  if (result == CUDA_SUCCESS && runtime != nullptr) runtime->code_alias(*module, library);
  return result;
}

extern "C" CUresult sluice_wrap_cuKernelGetFunction(CUfunction* function, CUkernel kernel) {
  const ErrnoGuard guard;
  const CUresult result = driver().cuKernelGetFunction(function, kernel);
  sluice::runtime::Runtime* runtime = Shim::get().runtime();
  if (result == CUDA_SUCCESS && runtime != nullptr) runtime->function_alias(*function, kernel);
  return result;
}
