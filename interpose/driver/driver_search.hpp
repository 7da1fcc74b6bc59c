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

// expected_driver() is what find_driver() (find_driver.hpp) will choose, told without opening any:
// of a GPU the first library for this machine.
Result<FoundDriver> expected_driver(DeviceChoice choice, const std::string& library_folder);

// may_be_gpu() is whether a choice may come to a GPU's driver; where it is `automatic`, by
// shows_gpu(). cpu_device() is what it else comes to, an error where that is not in
// `library_folder`/cpu.
bool may_be_gpu(DeviceChoice choice);
Result<FoundDriver> cpu_device(const std::string& library_folder);

// no_gpu_driver() is the error where `gpu` was chosen and no driver is there.
Error no_gpu_driver();

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
