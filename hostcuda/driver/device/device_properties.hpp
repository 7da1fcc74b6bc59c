// What the device says of itself.
#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <string>

#include "hostcuda/driver/device/cuda_api.hpp"
#include "hostcuda/driver/device/device_settings.hpp"

namespace sluice::hostcuda {

// Limits of a launch, as attributes give them and launches are checked against.
namespace limits {
constexpr unsigned threads_per_block = 1024;
constexpr unsigned block_x = 1024;
constexpr unsigned block_y = 1024;
constexpr unsigned block_z = 64;
constexpr unsigned grid_x = 0x7fffffff;
constexpr unsigned grid_y = 65535;
constexpr unsigned grid_z = 65535;
constexpr unsigned shared_bytes = 48 << 10;         // what every kernel may use
constexpr unsigned shared_optin_bytes = 227 << 10;  // by CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_...
constexpr unsigned threads_per_multiprocessor = 1024;
constexpr unsigned blocks_per_multiprocessor = 16;
constexpr unsigned warp = 32;
constexpr size_t pitch_alignment = 512;
}  // namespace limits

// DeviceProperties is read once from the machine. Each of available_processors() is one
// multiprocessor. The compute capability is 8.0: all that PTX has up to there runs, and of what
// came later nothing that a program would look for. PTX for any target runs. Capability and memory
// may be set otherwise (device_settings.hpp), which changes what the device says and how much it
// allocates, and no more.
struct DeviceProperties {
  unsigned processors = 1;
  size_t memory_bytes = 0;  // of the machine, or of the control group where that is less
  ComputeCapability compute;
  int clock_khz = 0;
  int last_level_cache_bytes = 0;
  std::string name;
  CUuuid uuid = {};

  static DeviceProperties of_this_machine();

  // attribute() returns nothing for a number that CUDA 13.0 does not know.
  std::optional<int> attribute(CUdevice_attribute attribute) const;
  // free_memory_bytes() is what the machine has left.
  size_t free_memory_bytes() const;
};

}  // namespace sluice::hostcuda
