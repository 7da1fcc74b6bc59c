// What CUDA's device runtime offers to kernels as functions without a body: printf, assert, the
// device heap, and the clocks. Kernels call these C++ functions by symbol.
#pragma once

#include <string_view>
#include <vector>

namespace sluice::hostcuda::jit {

// DeviceFunction is one function of the library: its name in PTX, and what stands for it.
struct DeviceFunction {
  const char* name;
  const char* symbol;
  void* address;
  bool ends_thread;       // the calling thread goes no further
  const char* signature;  // bytes of its result, then of each parameter
};

// device_functions() lists them all, and what stands for %globaltimer and nanosleep.
const std::vector<DeviceFunction>& device_functions();

// find_device_function() looks one up by its name in PTX; nullptr where there is none.
const DeviceFunction* find_device_function(std::string_view name);

}  // namespace sluice::hostcuda::jit
