// The functions that nvcc's generated code calls before main, at exit and at the first access to a
// managed variable. Declared in CUDA's crt/host_runtime.h, which only nvcc can read.
#include <vector_types.h>

#include "base/log.hpp"
#include "hostcuda/cudart/api.hpp"
#include "hostcuda/cudart/code/registry.hpp"

using namespace sluice::cudart;

namespace {

// nvcc's code keeps our handle as a void**, and never looks into it.
FatBinary* binary_of(void** handle) {
  return reinterpret_cast<FatBinary*>(handle);
}

}  // namespace

extern "C" {

void** __cudaRegisterFatBinary(void* wrapper) {
  return reinterpret_cast<void**>(add_fat_binary(wrapper));
}

void __cudaRegisterFatBinaryEnd(void**) {}

void __cudaUnregisterFatBinary(void** handle) {
  if (handle != nullptr) remove_fat_binary(binary_of(handle));
}

void __cudaRegisterFunction(void** handle, const char* host_function, char*,
                            const char* device_name, int, uint3*, uint3*, dim3*, dim3*, int*) {
  add_kernel(binary_of(handle), host_function, device_name);
}

void __cudaRegisterVar(void** handle, char* host_variable, char*, const char* device_name, int,
                       size_t, int, int) {
  add_variable(binary_of(handle), host_variable, device_name);
}

void __cudaRegisterManagedVar(void** handle, void** host_pointer, char*, const char* device_name,
                              int, size_t, int, int) {
  add_managed(binary_of(handle), host_pointer, device_name);
}

// The host reads or writes a managed variable next, and can't be told of a failure: without this
// line it would die of a null pointer with no reason given.
char __cudaInitModule(void** handle) {
  const cudaError_t error = with_context([&] { return load_managed(binary_of(handle)); });
  if (error != cudaSuccess) {
    sluice::log::error("cudart: managed variables have no memory: {}", cudaGetErrorString(error));
  }
  return error == cudaSuccess ? 1 : 0;
}

}  // extern "C"
