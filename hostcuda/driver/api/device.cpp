// Devices and primary contexts.
#include <algorithm>
#include <cstdio>
#include <cstring>

#include "hostcuda/driver/api/entry.hpp"

using namespace sluice::hostcuda;

namespace {
constexpr char pci_bus_id[] = "0000:00:00.0";
}

CUresult cuDeviceGet(CUdevice* device, int ordinal) {
  return with_driver([&](Driver&) -> CUresult {
    if (device == nullptr) return CUDA_ERROR_INVALID_VALUE;
    if (ordinal != 0) return CUDA_ERROR_INVALID_DEVICE;
    *device = 0;
    return CUDA_SUCCESS;
  });
}

CUresult cuDeviceGetCount(int* count) {
  return with_driver([&](Driver&) -> CUresult {
    if (count == nullptr) return CUDA_ERROR_INVALID_VALUE;
    *count = 1;
    return CUDA_SUCCESS;
  });
}

CUresult cuDeviceGetName(char* name, int length, CUdevice device) {
  return with_device(device, [&](Driver& driver) -> CUresult {
    if (name == nullptr || length <= 0) return CUDA_ERROR_INVALID_VALUE;
    std::snprintf(name, static_cast<size_t>(length), "%s", driver.properties.name.c_str());
    return CUDA_SUCCESS;
  });
}

CUresult cuDeviceGetUuid_v2(CUuuid* uuid, CUdevice device) {
  return with_device(device, [&](Driver& driver) -> CUresult {
    if (uuid == nullptr) return CUDA_ERROR_INVALID_VALUE;
    *uuid = driver.properties.uuid;
    return CUDA_SUCCESS;
  });
}
SLUICE_OLDER_FORM(cuDeviceGetUuid, cuDeviceGetUuid_v2)

CUresult cuDeviceTotalMem_v2(size_t* bytes, CUdevice device) {
  return with_device(device, [&](Driver& driver) -> CUresult {
    if (bytes == nullptr) return CUDA_ERROR_INVALID_VALUE;
    *bytes = driver.memory.capacity();
    return CUDA_SUCCESS;
  });
}

CUresult cuDeviceGetAttribute(int* value, CUdevice_attribute attribute, CUdevice device) {
  return with_device(device, [&](Driver& driver) -> CUresult {
    const std::optional<int> found = driver.properties.attribute(attribute);
    if (value == nullptr || !found) return CUDA_ERROR_INVALID_VALUE;
    *value = *found;
    return CUDA_SUCCESS;
  });
}

CUresult cuDeviceComputeCapability(int* major, int* minor, CUdevice device) {
  const CUresult result =
      cuDeviceGetAttribute(major, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, device);
  if (result != CUDA_SUCCESS) return result;
  return cuDeviceGetAttribute(minor, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR, device);
}

CUresult cuDeviceGetPCIBusId(char* id, int length, CUdevice device) {
  return with_device(device, [&](Driver&) -> CUresult {
    if (id == nullptr || length < static_cast<int>(sizeof pci_bus_id)) {
      return CUDA_ERROR_INVALID_VALUE;
    }
    std::memcpy(id, pci_bus_id, sizeof pci_bus_id);
    return CUDA_SUCCESS;
  });
}

CUresult cuDeviceGetByPCIBusId(CUdevice* device, const char* id) {
  return with_driver([&](Driver&) -> CUresult {
    if (device == nullptr || id == nullptr) return CUDA_ERROR_INVALID_VALUE;
    if (std::strcmp(id, pci_bus_id) != 0) return CUDA_ERROR_INVALID_DEVICE;
    *device = 0;
    return CUDA_SUCCESS;
  });
}

CUresult cuDeviceCanAccessPeer(int* can_access, CUdevice device, CUdevice peer) {
  return with_device(device, [&](Driver&) -> CUresult {
    if (can_access == nullptr) return CUDA_ERROR_INVALID_VALUE;
    if (peer != 0) return CUDA_ERROR_INVALID_DEVICE;
    *can_access = 0;  // a device is no peer of its own
    return CUDA_SUCCESS;
  });
}

CUresult cuDeviceGetP2PAttribute(int* value, CUdevice_P2PAttribute, CUdevice source,
                                 CUdevice destination) {
  if (value == nullptr) return CUDA_ERROR_INVALID_VALUE;
  // Asked of two distinct devices, of which there are none.
  return with_device(source, [&](Driver&) -> CUresult {
    return destination == source ? CUDA_ERROR_INVALID_DEVICE : CUDA_ERROR_INVALID_VALUE;
  });
}

CUresult cuDevicePrimaryCtxRetain(CUcontext* context, CUdevice device) {
  return with_device(device, [&](Driver& driver) -> CUresult {
    if (context == nullptr) return CUDA_ERROR_INVALID_VALUE;
    *context = driver.contexts.retain_primary()->handle();
    return CUDA_SUCCESS;
  });
}

CUresult cuDevicePrimaryCtxRelease_v2(CUdevice device) {
  return with_device(device, [](Driver& driver) { return driver.release_primary_context(); });
}
SLUICE_OLDER_FORM(cuDevicePrimaryCtxRelease, cuDevicePrimaryCtxRelease_v2)

CUresult cuDevicePrimaryCtxReset_v2(CUdevice device) {
  return with_device(device, [](Driver& driver) { return driver.reset_primary_context(); });
}
SLUICE_OLDER_FORM(cuDevicePrimaryCtxReset, cuDevicePrimaryCtxReset_v2)

CUresult cuDevicePrimaryCtxSetFlags_v2(CUdevice device, unsigned int flags) {
  return with_device(device,
                     [&](Driver& driver) { return driver.contexts.set_primary_flags(flags); });
}
SLUICE_OLDER_FORM(cuDevicePrimaryCtxSetFlags, cuDevicePrimaryCtxSetFlags_v2)

CUresult cuDevicePrimaryCtxGetState(CUdevice device, unsigned int* flags, int* active) {
  return with_device(device, [&](Driver& driver) -> CUresult {
    if (flags == nullptr || active == nullptr) return CUDA_ERROR_INVALID_VALUE;
    bool is_active = false;
    driver.contexts.primary_state(flags, &is_active);
    *active = is_active ? 1 : 0;
    return CUDA_SUCCESS;
  });
}
