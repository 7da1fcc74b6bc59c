// The structures of the runtime API that CUDA 12 and CUDA 13 lay out differently, as CUDA 12 does.
#pragma once

#include <cstddef>

#include <cuda_runtime_api.h>

namespace sluice::cudart::cuda_12 {

template <class T>
using Member = T;

struct DeviceProperties {
#define MEMBER(type, name) Member<type> name;
#define DROPPED(name, attribute) int name;
#include "hostcuda/cudart/cuda_12/device_properties.def"
#undef MEMBER
#undef DROPPED
  int reserved[63];
};
static_assert(sizeof(DeviceProperties) == 1032);

// Before CUDA 12 the structure ended here; the function without a suffix fills so much.
inline constexpr size_t size_before_cuda_12 = offsetof(DeviceProperties, hostRegisterSupported);

// Of these two, CUDA 13 adds members at the end.
inline constexpr size_t pointer_attributes_size = offsetof(cudaPointerAttributes, reserved);
inline constexpr size_t resource_size = 64;

// The parameters of one device's part of cudaLaunchCooperativeKernelMultiDevice.
struct LaunchParameters {
  void* function;
  dim3 grid;
  dim3 block;
  void** arguments;
  size_t shared_bytes;
  cudaStream_t stream;
};
static_assert(sizeof(LaunchParameters) == 56);

}  // namespace sluice::cudart::cuda_12
