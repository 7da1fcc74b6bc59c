#include "interpose/driver/find_driver.hpp"

#include <dlfcn.h>

namespace sluice::interpose {

void* open_driver(const std::string& path) {
  using Open = void* (*)(const char*, int);
  static const auto open = reinterpret_cast<Open>(dlsym(RTLD_NEXT, "dlopen"));
  return open(path.c_str(), RTLD_NOW | RTLD_LOCAL);
}

Result<FoundDriver> find_driver(DeviceChoice choice, const std::string& library_folder) {
  return choose_driver(choice, library_folder,
                       [](const std::string& path) { return open_driver(path) != nullptr; });
}

}  // namespace sluice::interpose
