#include "interpose/driver_search.hpp"

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

#include <dlfcn.h>

namespace sluice::interpose {
namespace {

namespace fs = std::filesystem;

std::vector<std::string> search_folders() {
  std::vector<std::string> folders;
  if (const char* path = std::getenv("LD_LIBRARY_PATH")) {
    std::stringstream parts(path);
    for (std::string part; std::getline(parts, part, ':');) {
      if (!part.empty()) folders.push_back(part);
    }
  }
  std::error_code error;
  for (const fs::directory_entry& file : fs::directory_iterator("/etc/ld.so.conf.d", error)) {
    std::ifstream lines(file.path());
    for (std::string line; std::getline(lines, line);) {
      if (!line.empty() && line.front() == '/') folders.push_back(line);
    }
  }
  for (const char* usual : {"/usr/lib/x86_64-linux-gnu", "/lib/x86_64-linux-gnu", "/usr/lib64",
                            "/usr/lib", "/usr/lib/wsl/lib", "/usr/local/nvidia/lib64"}) {
    folders.emplace_back(usual);
  }
  return folders;
}

// device_count() opens a driver by its path and asks it; 0 where anything fails.
int device_count(const std::string& path) {
  void* library = open_driver(path);
  if (library == nullptr) return 0;
  const auto init = reinterpret_cast<int (*)(unsigned)>(dlsym(library, "cuInit"));
  const auto count = reinterpret_cast<int (*)(int*)>(dlsym(library, "cuDeviceGetCount"));
  int devices = 0;
  if (init == nullptr || count == nullptr || init(0) != 0 || count(&devices) != 0) return 0;
  return devices;
}

}  // namespace

Result<DeviceChoice> device_choice(const std::string& text) {
  if (text.empty() || text == "auto") return DeviceChoice::automatic;
  if (text == "gpu") return DeviceChoice::gpu;
  if (text == "cpu") return DeviceChoice::cpu;
  return invalid_input("'" + text + "' is no device", {}, "use auto, gpu or cpu");
}

void* open_driver(const std::string& path) {
  using Open = void* (*)(const char*, int);
  static const auto open = reinterpret_cast<Open>(dlsym(RTLD_NEXT, "dlopen"));
  return open(path.c_str(), RTLD_NOW | RTLD_LOCAL);
}

std::vector<std::string> gpu_driver_candidates(const std::string& library_folder) {
  std::error_code error;
  const fs::path own_folder = fs::weakly_canonical(library_folder, error);
  std::vector<std::string> found;
  for (const std::string& folder : search_folders()) {
    const fs::path candidate = fs::path(folder) / "libcuda.so.1";
    if (!fs::exists(candidate, error)) continue;
    const fs::path real = fs::canonical(candidate, error);
    const bool own = real.parent_path() == own_folder || real.parent_path() == own_folder / "cpu";
    if (!own && !error) found.push_back(candidate.string());
  }
  return found;
}

Result<FoundDriver> find_driver(DeviceChoice choice, const std::string& library_folder) {
  const fs::path cpu = fs::path(library_folder) / "cpu" / "libcuda.so.1";
  if (choice != DeviceChoice::cpu) {
    for (const std::string& path : gpu_driver_candidates(library_folder)) {
      if (device_count(path) > 0) return FoundDriver{path, false};
    }
    if (choice == DeviceChoice::gpu) {
      return system_error("no NVIDIA driver with a device was found", "device gpu",
                          "use --device cpu (or SLUICE_DEVICE=cpu) to run on the CPU device");
    }
  }
  std::error_code error;
  if (!fs::exists(cpu, error)) {
    return system_error("the CPU device is missing", cpu.string(), "build it with scripts/build");
  }
  return FoundDriver{cpu.string(), true};
}

}  // namespace sluice::interpose
