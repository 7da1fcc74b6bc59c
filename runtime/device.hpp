// What the runtime needs of the driver below it. The shim implements it with the real driver;
// tests implement it with a fake. Handles are the driver's own, results are CUresult values.
#pragma once

#include <functional>

#include "base/dim3.hpp"
#include "base/result.hpp"
#include "hostcuda/block_abi.h"
#include "megakernel/window_backend.hpp"
#include "runtime/races/ordering.hpp"

namespace sluice::runtime {

// LaunchCall is one cuLaunchKernel as the program made it. Exactly one of `parameters` and
// `extra` is set, as CUDA asks, unless the kernel takes none.
struct LaunchCall {
  void* function = nullptr;  // CUfunction, or a CUkernel cast to one
  Dim3 grid;
  Dim3 block;
  uint32_t dynamic_shared_bytes = 0;
  void* stream = nullptr;
  void** parameters = nullptr;
  void** extra = nullptr;
  const CallSite* site = nullptr;  // where races are checked
};

// VariablePlace is the memory of a variable of a module.
struct VariablePlace {
  uint64_t address = 0;
  uint64_t bytes = 0;
};

// Device. launch() and enqueue() are called under the runtime's lock, which `work` takes when it
// ends, so they must not wait for work of the device.
class Device {
 public:
  virtual ~Device() = default;

  // launch() gives the launch to the driver as it is.
  virtual int launch(const LaunchCall& call) = 0;

  // block_code() is the code that runs the kernel's blocks one by one. An error where the device
  // has no such thing (a GPU), with the reason.
  virtual Result<SluiceBlockCode> block_code(void* function, const Dim3& block,
                                             uint32_t dynamic_shared_bytes) = 0;

  // traced_block_code() is the same code, compiled so that it tells set_access_sink()'s listener of
  // its accesses. An error where the device cannot trace.
  virtual Result<SluiceBlockCode> traced_block_code(void* /*function*/, const Dim3& /*block*/,
                                                    uint32_t /*dynamic_shared_bytes*/) {
    return unsupported("this device cannot trace accesses");
  }
  // set_access_sink() says who hears of the accesses of traced code on the calling thread.
  virtual void set_access_sink(const SluiceAccessSink* /*sink*/) {}

  // windows() is what runs windows in place of the host's workers, or null. The answer never
  // changes.
  virtual megakernel::WindowBackend* windows() { return nullptr; }
  // variable() is where a .global variable of loaded code lies; `code` is a CUlibrary or a
  // CUmodule. An error where there is none of that name.
  virtual Result<VariablePlace> variable(void* /*code*/, const char* /*name*/) {
    return unsupported("this device does not tell where variables lie");
  }

  // enqueue() runs `work` on a thread of the device in the order of `stream`. `work` may itself
  // call enqueue() and launch().
  virtual int enqueue(void* stream, std::function<void()> work) = 0;
};

}  // namespace sluice::runtime
