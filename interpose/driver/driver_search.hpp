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
  // Chosen by signs of a GPU. Whether it has a usable device is known when the program calls
  // cuInit: where it has none, the CPU device takes its place (Shim::initialise()).
  bool is_by_signs = false;
};

// choose_driver() decides for a choice. `library_folder` holds libsluice.so and cpu/libcuda.so.1.
// `automatic` takes a GPU driver where shows_gpu(), else the CPU device; `gpu` takes the first of
// the system's that `serves`. An error names what was looked for.
Result<FoundDriver> choose_driver(DeviceChoice choice, const std::string& library_folder,
                                  bool (*serves)(const std::string& path));

// expected_driver() is what find_driver() (find_driver.hpp) will choose, told without opening any:
// of a GPU the first library for this machine.
Result<FoundDriver> expected_driver(DeviceChoice choice, const std::string& library_folder);

// shows_gpu() is true where the system tells of an NVIDIA GPU that this process may use, as far as
// can be known without asking a driver: there is a device file (/dev/nvidia0 and so on, WSL's
// /dev/dxg) or a loaded kernel module that knows a GPU together with the command that makes its
// device file; and CUDA_VISIBLE_DEVICES is not set to a list whose first entry is no device. `root`
// stands for "/".
bool shows_gpu(const std::string& root);

// gpu_driver_candidates() lists existing libcuda.so.1 files of the system in the order of the
// dynamic loader (LD_LIBRARY_PATH, ld.so.conf's folders, the usual ones), without Sluice's own.
std::vector<std::string> gpu_driver_candidates(const std::string& library_folder);

}  // namespace sluice::interpose
