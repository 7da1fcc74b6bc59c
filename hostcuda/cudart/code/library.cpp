// Code that the program loads itself.
#include <vector>

#include "hostcuda/cudart/api.hpp"
#include "hostcuda/cudart/code/registry.hpp"

using namespace sluice::cudart;

namespace {

// Both APIs number the options alike.
template <class To, class From>
std::vector<To> driver_options(const From* options, unsigned count) {
  std::vector<To> converted;
  for (unsigned i = 0; options != nullptr && i < count; ++i) {
    converted.push_back(static_cast<To>(options[i]));
  }
  return converted;
}

}  // namespace

extern "C" {

cudaError_t cudaLibraryLoadData(cudaLibrary_t* library, const void* code,
                                cudaJitOption* jit_options, void** jit_values, unsigned jit_count,
                                cudaLibraryOption* options, void** values, unsigned count) {
  return with_context([&] {
    auto jit = driver_options<CUjit_option>(jit_options, jit_count);
    auto driver = driver_options<CUlibraryOption>(options, count);
    return cuLibraryLoadData(library, code, jit.data(), jit_values, jit_count, driver.data(),
                             values, count);
  });
}

cudaError_t cudaLibraryLoadFromFile(cudaLibrary_t* library, const char* path,
                                    cudaJitOption* jit_options, void** jit_values,
                                    unsigned jit_count, cudaLibraryOption* options, void** values,
                                    unsigned count) {
  return with_context([&] {
    auto jit = driver_options<CUjit_option>(jit_options, jit_count);
    auto driver = driver_options<CUlibraryOption>(options, count);
    return cuLibraryLoadFromFile(library, path, jit.data(), jit_values, jit_count, driver.data(),
                                 values, count);
  });
}

cudaError_t cudaLibraryUnload(cudaLibrary_t library) {
  return with_context([&] { return cuLibraryUnload(library); });
}

cudaError_t cudaLibraryGetKernel(cudaKernel_t* kernel, cudaLibrary_t library, const char* name) {
  return with_context([&] {
    const CUresult result = cuLibraryGetKernel(kernel, library, name);
    if (result == CUDA_SUCCESS) know_kernel(*kernel);
    return result;
  });
}

cudaError_t cudaLibraryGetKernelCount(unsigned* count, cudaLibrary_t library) {
  return with_context([&] { return cuLibraryGetKernelCount(count, library); });
}

cudaError_t cudaLibraryEnumerateKernels(cudaKernel_t* kernels, unsigned count,
                                        cudaLibrary_t library) {
  return with_context([&] {
    const CUresult result = cuLibraryEnumerateKernels(kernels, count, library);
    for (unsigned i = 0; result == CUDA_SUCCESS && i < count; ++i) {
      if (kernels[i] != nullptr) know_kernel(kernels[i]);
    }
    return result;
  });
}

cudaError_t cudaLibraryGetGlobal(void** address, size_t* size, cudaLibrary_t library,
                                 const char* name) {
  return with_context(
      [&] { return cuLibraryGetGlobal(device_address(address), size, library, name); });
}

cudaError_t cudaLibraryGetManaged(void** address, size_t* size, cudaLibrary_t library,
                                  const char* name) {
  return with_context(
      [&] { return cuLibraryGetManaged(device_address(address), size, library, name); });
}

}  // extern "C"
