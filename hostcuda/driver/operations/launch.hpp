// Kernel launches.
#pragma once

#include <cstdint>

#include "base/dim3.hpp"
#include "hostcuda/driver/device/cuda_api.hpp"
#include "hostcuda/driver/driver.hpp"
#include "hostcuda/driver/stream/operation.hpp"

namespace sluice::hostcuda {

// LaunchRequest is one launch as the program asks for it: exactly one of `parameters` and `extra`
// is set, unless the kernel takes none.
struct LaunchRequest {
  CUfunction function = nullptr;  // or a CUkernel cast to one
  Dim3 grid;
  Dim3 block;
  uint32_t dynamic_shared_bytes = 0;
  void** parameters = nullptr;
  void** extra = nullptr;
  bool cooperative = false;  // all blocks run at once, and may wait for each other
};

// check_block() is what launch() answers to a block of that size with that much dynamic shared
// memory, whatever else is asked for. Whoever runs blocks by itself asks it before it takes a
// launch.
CUresult check_block(const Kernel& kernel, const Dim3& block, uint32_t dynamic_shared_bytes);

// make_launch() compiles the kernel if need be and copies its parameters. Errors as launch().
CUresult make_launch(Driver& driver, const LaunchRequest& request, SharedOperation* operation);

// launch_parameters() is the launch that an operation of make_launch() does. The pointers in it
// live as long as the operation.
CUDA_KERNEL_NODE_PARAMS_v2 launch_parameters(const Operation& launch);

// launch() compiles the kernel if need be, copies its parameters and submits it to the stream.
// Errors as CUDA gives them: CUDA_ERROR_INVALID_HANDLE for what is no function,
// CUDA_ERROR_INVALID_VALUE for a shape over the device's limits or the kernel's .maxntid, or
// parameters that are missing, CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE for a cooperative grid that
// cannot be resident at once, CUDA_ERROR_NOT_SUPPORTED for a kernel that cannot be compiled, which
// is logged.
CUresult launch(Driver& driver, const StreamRef& stream, const LaunchRequest& request);

}  // namespace sluice::hostcuda
