#include "interpose/driver/find_driver.hpp"

#include <dlfcn.h>

namespace sluice::interpose {

void* open_driver(const std::string& path) {
  using Open = void* (*)(const char*, int);
  static const auto open = reinterpret_cast<Open>(dlsym(RTLD_NEXT, "dlopen"));
  return open(path.c_str(), RTLD_NOW | RTLD_LOCAL);
}

Result<FoundDriver> find_driver(DeviceChoice choice, const std::string& library_folder) {
  if (may_be_gpu(choice)) {
    for (const std::string& path : gpu_driver_candidates(library_folder)) {
      if (open_driver(path) != nullptr)
        return FoundDriver{path, false, choice == DeviceChoice::automatic};
    }
  }
  if (choice == DeviceChoice::gpu) return tl::unexpected(no_gpu_driver());
  return cpu_device(library_folder);
}

}  // namespace sluice::interpose
