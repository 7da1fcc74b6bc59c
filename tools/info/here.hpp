// What this machine gives a program.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "interpose/driver/driver_search.hpp"

namespace sluice::tools {

// DeviceHere is the device that a program would get.
struct DeviceHere {
  bool is_cpu_device = false;
  std::optional<uint32_t> architecture;  // of the first GPU: 90 for sm_90
  std::string text;                      // for people
};

// find_device() chooses as `sluice run --device` does. It initialises NVIDIA's driver where there
// is one, and where that has no usable device gives the CPU device as a program would get it.
Result<DeviceHere> find_device(interpose::DeviceChoice choice, const std::string& library_folder);

// processors_text() is "2 of 8 (AMD EPYC), caches 32 KiB, 1 MiB, 32 MiB; ...".
std::string processors_text();

// versions_text() is "0.1.0, LLVM 19.1.7".
std::string versions_text();

}  // namespace sluice::tools
