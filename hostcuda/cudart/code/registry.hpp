// The device code that nvcc's generated code registered before main: fat binaries, their kernels
// and their variables, found again by the address of the host function or variable that stands for
// them.
#pragma once

#include <cstddef>

#include <cuda.h>
#include <driver_types.h>

namespace sluice::cudart {

struct FatBinary;

// A variable in device memory: its address and its size in bytes.
struct DeviceVariable {
  CUdeviceptr address = 0;
  size_t size = 0;
};

FatBinary* add_fat_binary(const void* wrapper);
void add_kernel(FatBinary* binary, const void* host_function, const char* name);
void add_variable(FatBinary* binary, const void* host_variable, const char* name);
// `host_pointer` is the host's pointer to the managed memory, filled by load_managed().
void add_managed(FatBinary* binary, void** host_pointer, const char* name);

// remove_fat_binary() forgets all that was registered for `binary`. The driver keeps its code: at
// process exit the driver's own exit handlers may have run, and launches may still be in flight.
void remove_fat_binary(FatBinary* binary);

// load_managed() gives every managed variable of `binary` its host pointer.
cudaError_t load_managed(FatBinary* binary);

// find_kernel() gives the driver's handle for a host function, or for a kernel handle that this
// library handed out itself. The image goes to the driver at the first use of one of its kernels or
// variables; an image that failed to load fails again with the same error.
// cudaErrorInvalidDeviceFunction where nothing is registered. Thread-safe. Needs a current context.
cudaError_t find_kernel(const void* function, CUkernel* kernel);

// know_kernel() makes a handle of the driver valid for find_kernel().
void know_kernel(CUkernel kernel);

// find_variable() is the same for variables; cudaErrorInvalidSymbol where nothing is registered.
cudaError_t find_variable(const void* symbol, DeviceVariable* variable);

}  // namespace sluice::cudart
