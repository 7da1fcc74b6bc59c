// Launches.
#include "hostcuda/driver/operations/launch.hpp"

#include "base/log.hpp"
#include "hostcuda/driver/api/entry.hpp"

using namespace sluice;
using namespace sluice::hostcuda;

namespace {

// unsupported_attribute() names what the launch asks for and this device cannot do, nullptr where
// there is nothing. Hints and orders weaker than the device's own are met by doing nothing.
const char* unsupported_attribute(const CUlaunchAttribute& attribute) {
  const CUlaunchAttributeValue& value = attribute.value;
  switch (attribute.id) {
    case CU_LAUNCH_ATTRIBUTE_IGNORE:
    case CU_LAUNCH_ATTRIBUTE_ACCESS_POLICY_WINDOW:
    case CU_LAUNCH_ATTRIBUTE_SYNCHRONIZATION_POLICY:
    case CU_LAUNCH_ATTRIBUTE_CLUSTER_SCHEDULING_POLICY_PREFERENCE:
    case CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION:
    case CU_LAUNCH_ATTRIBUTE_PRIORITY:
    case CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN_MAP:
    case CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN:
    case CU_LAUNCH_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT:
    case CU_LAUNCH_ATTRIBUTE_NVLINK_UTIL_CENTRIC_SCHEDULING:
      return nullptr;
    case CU_LAUNCH_ATTRIBUTE_COOPERATIVE:
      return nullptr;
    case CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION:
      return value.clusterDim.x * value.clusterDim.y * value.clusterDim.z == 1
                 ? nullptr
                 : "a launch with thread-block clusters";
    case CU_LAUNCH_ATTRIBUTE_PREFERRED_CLUSTER_DIMENSION:
      return "a launch with thread-block clusters";
    case CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_EVENT:
    case CU_LAUNCH_ATTRIBUTE_LAUNCH_COMPLETION_EVENT:
      return "a launch with an event among its attributes";
    case CU_LAUNCH_ATTRIBUTE_DEVICE_UPDATABLE_KERNEL_NODE:
      return "a launch as a device-updatable graph node";
    default:
      return "a launch with an unknown attribute";
  }
}

CUresult report_unsupported(const char* what) {
  log::error("{} is unsupported on the CPU device; launch the kernel without it", what);
  return CUDA_ERROR_NOT_SUPPORTED;
}

CUresult launch_on(CUstream handle, const LaunchRequest& request) {
  return with_stream(handle, [&](Driver& driver, Context&, const StreamRef& stream) {
    return launch(driver, stream, request);
  });
}

}  // namespace

CUresult cuLaunchKernel(CUfunction function, unsigned int grid_x, unsigned int grid_y,
                        unsigned int grid_z, unsigned int block_x, unsigned int block_y,
                        unsigned int block_z, unsigned int shared_bytes, CUstream handle,
                        void** parameters, void** extra) {
  return launch_on(handle, {function,
                            {grid_x, grid_y, grid_z},
                            {block_x, block_y, block_z},
                            shared_bytes,
                            parameters,
                            extra});
}
SLUICE_PER_THREAD_FORM(cuLaunchKernel, ptsz,
                       (CUfunction function, unsigned int grid_x, unsigned int grid_y,
                        unsigned int grid_z, unsigned int block_x, unsigned int block_y,
                        unsigned int block_z, unsigned int shared_bytes, CUstream handle,
                        void** parameters, void** extra),
                       (function, grid_x, grid_y, grid_z, block_x, block_y, block_z, shared_bytes,
                        handle, parameters, extra))

CUresult cuLaunchKernelEx(const CUlaunchConfig* config, CUfunction function, void** parameters,
                          void** extra) {
  if (config == nullptr || (config->numAttrs != 0 && config->attrs == nullptr)) {
    return CUDA_ERROR_INVALID_VALUE;
  }
  bool cooperative = false;
  for (unsigned i = 0; i < config->numAttrs; ++i) {
    const CUlaunchAttribute& attribute = config->attrs[i];
    if (const char* what = unsupported_attribute(attribute)) {
      return guarded([&] { return report_unsupported(what); });
    }
    if (attribute.id == CU_LAUNCH_ATTRIBUTE_COOPERATIVE) {
      cooperative = attribute.value.cooperative != 0;
    }
  }
  return launch_on(config->hStream, {function,
                                     {config->gridDimX, config->gridDimY, config->gridDimZ},
                                     {config->blockDimX, config->blockDimY, config->blockDimZ},
                                     config->sharedMemBytes,
                                     parameters,
                                     extra,
                                     cooperative});
}
SLUICE_PER_THREAD_FORM(cuLaunchKernelEx, ptsz,
                       (const CUlaunchConfig* config, CUfunction function, void** parameters,
                        void** extra),
                       (config, function, parameters, extra))

CUresult cuLaunchCooperativeKernel(CUfunction function, unsigned int grid_x, unsigned int grid_y,
                                   unsigned int grid_z, unsigned int block_x, unsigned int block_y,
                                   unsigned int block_z, unsigned int shared_bytes, CUstream stream,
                                   void** parameters) {
  return launch_on(stream, {function,
                            {grid_x, grid_y, grid_z},
                            {block_x, block_y, block_z},
                            shared_bytes,
                            parameters,
                            nullptr,
                            true});
}
SLUICE_PER_THREAD_FORM(cuLaunchCooperativeKernel, ptsz,
                       (CUfunction function, unsigned int grid_x, unsigned int grid_y,
                        unsigned int grid_z, unsigned int block_x, unsigned int block_y,
                        unsigned int block_z, unsigned int shared_bytes, CUstream stream,
                        void** parameters),
                       (function, grid_x, grid_y, grid_z, block_x, block_y, block_z, shared_bytes,
                        stream, parameters))
