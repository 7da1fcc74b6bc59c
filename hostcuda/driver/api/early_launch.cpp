// What programs of CUDA 2 and 3 call: a launch put together by several functions, properties in one
// structure, and contexts that count their users.
#include <array>
#include <cstring>
#include <map>
#include <mutex>
#include <vector>

#include "hostcuda/driver/api/entry.hpp"
#include "hostcuda/driver/operations/launch.hpp"

using namespace sluice;
using namespace sluice::hostcuda;

namespace {

constexpr size_t most_parameter_bytes = 4096;

// PreparedLaunch is what the program has said so far of a function's next launch.
struct PreparedLaunch {
  Dim3 block{1, 1, 1};
  uint32_t dynamic_shared_bytes = 0;
  std::vector<std::byte> parameters;
};

struct PreparedLaunches {
  std::mutex mutex;
  std::map<CUfunction, PreparedLaunch> launches;
};

PreparedLaunches& prepared_launches() {
  static auto* prepared = new PreparedLaunches;
  return *prepared;
}

// prepare() calls body(PreparedLaunch&) for a function that there is.
template <class Body>
CUresult prepare(CUfunction function, Body&& body) noexcept {
  return with_driver([&](Driver& driver) -> CUresult {
    if (driver.kernels.find(function) == nullptr) return CUDA_ERROR_INVALID_HANDLE;
    PreparedLaunches& prepared = prepared_launches();
    const std::lock_guard lock(prepared.mutex);
    return body(prepared.launches[function]);
  });
}

CUresult set_parameter(CUfunction function, int offset, const void* value, size_t bytes) {
  return prepare(function, [&](PreparedLaunch& launch) -> CUresult {
    if (offset < 0 || value == nullptr || bytes > most_parameter_bytes ||
        static_cast<size_t>(offset) > most_parameter_bytes - bytes) {
      return CUDA_ERROR_INVALID_VALUE;
    }
    const size_t end = static_cast<size_t>(offset) + bytes;
    if (launch.parameters.size() < end) launch.parameters.resize(end);
    std::memcpy(&launch.parameters[static_cast<size_t>(offset)], value, bytes);
    return CUDA_SUCCESS;
  });
}

CUresult launch_prepared(CUfunction function, int width, int height, CUstream handle) {
  PreparedLaunch prepared;
  const CUresult known = prepare(function, [&](const PreparedLaunch& launch) -> CUresult {
    prepared = launch;
    return width < 1 || height < 1 ? CUDA_ERROR_INVALID_VALUE : CUDA_SUCCESS;
  });
  if (known != CUDA_SUCCESS) return known;
  return with_stream(handle, [&](Driver& driver, Context&, const StreamRef& stream) {
    size_t bytes = prepared.parameters.size();
    std::array<void*, 5> extra = {CU_LAUNCH_PARAM_BUFFER_POINTER, prepared.parameters.data(),
                                  CU_LAUNCH_PARAM_BUFFER_SIZE, &bytes, CU_LAUNCH_PARAM_END};
    LaunchRequest request;
    request.function = function;
    request.grid = {static_cast<uint32_t>(width), static_cast<uint32_t>(height), 1};
    request.block = prepared.block;
    request.dynamic_shared_bytes = prepared.dynamic_shared_bytes;
    if (bytes != 0) request.extra = extra.data();
    return launch(driver, stream, request);
  });
}

struct ContextUsers {
  std::mutex mutex;
  std::map<CUcontext, int> more;  // than the one who made the context
};

ContextUsers& context_users() {
  static auto* users = new ContextUsers;
  return *users;
}

}  // namespace

CUresult cuFuncSetBlockShape(CUfunction function, int x, int y, int z) {
  return prepare(function, [&](PreparedLaunch& launch) -> CUresult {
    if (x < 1 || y < 1 || z < 1) return CUDA_ERROR_INVALID_VALUE;
    launch.block = {static_cast<uint32_t>(x), static_cast<uint32_t>(y), static_cast<uint32_t>(z)};
    return CUDA_SUCCESS;
  });
}

CUresult cuFuncSetSharedSize(CUfunction function, unsigned int bytes) {
  return prepare(function, [&](PreparedLaunch& launch) {
    launch.dynamic_shared_bytes = bytes;
    return CUDA_SUCCESS;
  });
}

CUresult cuParamSetSize(CUfunction function, unsigned int bytes) {
  return prepare(function, [&](PreparedLaunch& launch) -> CUresult {
    if (bytes > most_parameter_bytes) return CUDA_ERROR_INVALID_VALUE;
    launch.parameters.resize(bytes);
    return CUDA_SUCCESS;
  });
}

CUresult cuParamSeti(CUfunction function, int offset, unsigned int value) {
  return set_parameter(function, offset, &value, sizeof(value));
}

CUresult cuParamSetf(CUfunction function, int offset, float value) {
  return set_parameter(function, offset, &value, sizeof(value));
}

CUresult cuParamSetv(CUfunction function, int offset, void* value, unsigned int bytes) {
  return set_parameter(function, offset, value, bytes);
}

CUresult cuLaunch(CUfunction function) {
  return launch_prepared(function, 1, 1, nullptr);
}

CUresult cuLaunchGrid(CUfunction function, int width, int height) {
  return launch_prepared(function, width, height, nullptr);
}

CUresult cuLaunchGridAsync(CUfunction function, int width, int height, CUstream stream) {
  return launch_prepared(function, width, height, stream);
}

CUresult cuDeviceGetProperties(CUdevprop* result, CUdevice device) {
  return with_device(device, [&](const Driver& driver) -> CUresult {
    if (result == nullptr) return CUDA_ERROR_INVALID_VALUE;
    const auto value = [&](CUdevice_attribute attribute) {
      return driver.properties.attribute(attribute).value_or(0);
    };
    *result = {
        value(CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK),
        {value(CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_X), value(CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Y),
         value(CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Z)},
        {value(CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_X), value(CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Y),
         value(CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Z)},
        value(CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK),
        value(CU_DEVICE_ATTRIBUTE_TOTAL_CONSTANT_MEMORY),
        value(CU_DEVICE_ATTRIBUTE_WARP_SIZE),
        value(CU_DEVICE_ATTRIBUTE_MAX_PITCH),
        value(CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_BLOCK),
        value(CU_DEVICE_ATTRIBUTE_CLOCK_RATE),
        value(CU_DEVICE_ATTRIBUTE_TEXTURE_ALIGNMENT)};
    return CUDA_SUCCESS;
  });
}

CUresult cuCtxAttach(CUcontext* result, unsigned int flags) {
  return with_context([&](Driver&, Context&) -> CUresult {
    if (result == nullptr || flags != 0) return CUDA_ERROR_INVALID_VALUE;
    const CUresult known = cuCtxGetCurrent(result);
    if (known != CUDA_SUCCESS) return known;
    ContextUsers& users = context_users();
    const std::lock_guard lock(users.mutex);
    ++users.more[*result];
    return CUDA_SUCCESS;
  });
}

CUresult cuCtxDetach(CUcontext context) {
  {
    ContextUsers& users = context_users();
    const std::lock_guard lock(users.mutex);
    const auto found = users.more.find(context);
    if (found != users.more.end()) {
      if (--found->second == 0) users.more.erase(found);
      return CUDA_SUCCESS;
    }
  }
  return cuCtxDestroy_v2(context);
}

// No profiler can be there.
extern "C" __attribute__((visibility("default"))) CUresult cuProfilerStart() {
  return CUDA_SUCCESS;
}
extern "C" __attribute__((visibility("default"))) CUresult cuProfilerStop() {
  return CUDA_SUCCESS;
}
