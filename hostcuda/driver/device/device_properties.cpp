#include "hostcuda/driver/device/device_properties.hpp"

#include <algorithm>
#include <cstring>
#include <fstream>

#include <fmt/format.h>
#include <unistd.h>

#include "base/processors.hpp"

namespace sluice::hostcuda {
namespace {

std::optional<size_t> read_number(const char* path) {
  std::ifstream file(path);
  size_t number = 0;
  if (file >> number) return number;
  return std::nullopt;
}

size_t count_memory() {
  const auto pages = static_cast<size_t>(sysconf(_SC_PHYS_PAGES));
  const size_t machine = pages * static_cast<size_t>(sysconf(_SC_PAGESIZE));
  // "max" where the control group sets no limit: then nothing is read.
  return std::min(machine, read_number("/sys/fs/cgroup/memory.max").value_or(machine));
}

}  // namespace

DeviceProperties DeviceProperties::of_this_machine() {
  DeviceProperties properties;
  properties.processors = available_processors();
  properties.memory_bytes = memory_setting().value_or(count_memory());
  properties.compute = compute_setting().value_or(ComputeCapability());
  properties.clock_khz = static_cast<int>(
      read_number("/sys/devices/system/cpu/cpu0/cpufreq/cpuinfo_max_freq").value_or(2'000'000));
  const long cache = sysconf(_SC_LEVEL3_CACHE_SIZE);
  properties.last_level_cache_bytes = static_cast<int>(std::clamp(cache, 1l << 20, 1l << 30));
  properties.name = fmt::format("Sluice CPU device ({} core{})", properties.processors,
                                properties.processors == 1 ? "" : "s");
  std::memcpy(properties.uuid.bytes, "sluice-cpu-dev-0", sizeof properties.uuid.bytes);
  return properties;
}

size_t DeviceProperties::free_memory_bytes() const {
  const auto pages = static_cast<size_t>(sysconf(_SC_AVPHYS_PAGES));
  return std::min(memory_bytes, pages * static_cast<size_t>(sysconf(_SC_PAGESIZE)));
}

std::optional<int> DeviceProperties::attribute(CUdevice_attribute attribute) const {
  // Every attribute that is not named here is a feature that the device lacks: 0.
  switch (attribute) {
#define SLUICE_DEVICE_ATTRIBUTE(name, value) \
  case CU_DEVICE_ATTRIBUTE_##name:           \
    return static_cast<int>(value);
#include "hostcuda/driver/device/device_attributes.def"
#undef SLUICE_DEVICE_ATTRIBUTE
    default:
      if (attribute <= 0 || attribute >= CU_DEVICE_ATTRIBUTE_MAX) return std::nullopt;
      return 0;
  }
}

}  // namespace sluice::hostcuda
