// Which driver lies below the shim: NVIDIA's, or the CPU device that stands beside the shim.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/result.hpp"

namespace sluice::interpose {

enum class DeviceChoice { automatic, gpu, cpu };

// device_choice() reads "auto", "gpu" or "cpu" (SLUICE_DEVICE, --device).
Result<DeviceChoice> device_choice(const std::string& text);

// FoundDriver is a driver library to be opened by its absolute path.
struct FoundDriver {
  std::string path;
  bool is_cpu_device = false;
};

// find_driver() decides for a choice. `library_folder` holds libsluice.so and cpu/libcuda.so.1.
// `automatic` takes a GPU driver that initialises and reports a device, else the CPU device.
// An error names what was looked for. It opens and initialises the GPU driver it finds (and leaves
// it open), so call it only in a process that is about to use one.
Result<FoundDriver> find_driver(DeviceChoice choice, const std::string& library_folder);

// open_driver() opens a driver by its path with the C library's dlopen, not with the shim's own.
// Returns its handle, or nullptr with the reason in dlerror().
void* open_driver(const std::string& path);

// gpu_driver_candidates() lists existing libcuda.so.1 files of the system in the order of the
// dynamic loader (LD_LIBRARY_PATH, ld.so.conf's folders, the usual ones), without Sluice's own.
std::vector<std::string> gpu_driver_candidates(const std::string& library_folder);

}  // namespace sluice::interpose
