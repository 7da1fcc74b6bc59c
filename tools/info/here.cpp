#include "tools/info/here.hpp"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <fstream>
#include <string_view>
#include <thread>

#include <dlfcn.h>
#include <fmt/format.h>

#include "base/processors.hpp"
#include "interpose/driver/find_driver.hpp"
#include "tools/built.hpp"

namespace sluice::tools {
namespace {

// value_of() is what stands behind "NAME ... :" in a file such as /proc/cpuinfo.
std::string value_of(const std::string& path, std::string_view name) {
  std::ifstream lines(path);
  for (std::string line; std::getline(lines, line);) {
    const size_t colon = line.find(':');
    if (!line.starts_with(name) || colon == std::string::npos) continue;
    const size_t begin = line.find_first_not_of(" \t", colon + 1);
    return begin == std::string::npos ? "" : line.substr(begin);
  }
  return {};
}

std::string first_line(const std::string& path) {
  std::ifstream file(path);
  std::string line;
  std::getline(file, line);
  return line;
}

// caches_text() is "32K, 1024K, 32768K": what one processor sees of data caches, nearest first.
std::string caches_text() {
  std::string text;
  for (int index = 0;; ++index) {
    const std::string folder = fmt::format("/sys/devices/system/cpu/cpu0/cache/index{}/", index);
    const std::string kind = first_line(folder + "type");
    if (kind.empty()) return text;
    if (kind != "Instruction") text += (text.empty() ? "" : ", ") + first_line(folder + "size");
  }
}

// The driver's functions that are asked, by their types in cuda.h.
struct GpuDriver {
  int (*init)(unsigned) = nullptr;
  int (*count)(int*) = nullptr;
  int (*name)(char*, int, int) = nullptr;
  int (*attribute)(int*, int, int) = nullptr;
  int (*version)(int*) = nullptr;

  explicit GpuDriver(void* library) {
    const auto find = [library](auto& call, const char* symbol) {
      call = reinterpret_cast<std::remove_reference_t<decltype(call)>>(dlsym(library, symbol));
    };
    find(init, "cuInit");
    find(count, "cuDeviceGetCount");
    find(name, "cuDeviceGetName");
    find(attribute, "cuDeviceGetAttribute");
    find(version, "cuDriverGetVersion");
  }
  bool is_whole() const { return init && count && name && attribute && version; }
};

constexpr int capability_major = 75, capability_minor = 76;  // of CUdevice_attribute

std::string gpu_name(const GpuDriver& driver, int device, uint32_t& architecture) {
  std::array<char, 256> name{};
  int major = 0, minor = 0;
  driver.name(name.data(), static_cast<int>(name.size()) - 1, device);
  driver.attribute(&major, capability_major, device);
  driver.attribute(&minor, capability_minor, device);
  architecture = static_cast<uint32_t>(10 * major + minor);
  return fmt::format("{} (sm_{})", name.data(), architecture);
}

// gpu_here() gives nothing where the driver has no usable device.
std::optional<DeviceHere> gpu_here(const std::string& path) {
  void* const library = interpose::open_driver(path);
  if (library == nullptr) return std::nullopt;
  const GpuDriver driver(library);
  int devices = 0, version = 0;
  if (!driver.is_whole() || driver.init(0) != 0 || driver.count(&devices) != 0 || devices == 0) {
    return std::nullopt;
  }
  driver.version(&version);
  uint32_t architecture = 0;
  DeviceHere here{.text = gpu_name(driver, 0, architecture)};
  here.architecture = architecture;
  if (devices > 1) here.text += fmt::format(" and {} more", devices - 1);
  here.text +=
      fmt::format(", driver for CUDA {}.{}: {}", version / 1000, version % 1000 / 10, path);
  return here;
}

}  // namespace

Result<DeviceHere> find_device(interpose::DeviceChoice choice, const std::string& library_folder) {
  const auto driver = interpose::find_driver(choice, library_folder);
  if (!driver) return tl::unexpected(driver.error());
  if (driver->is_cpu_device) {
    const bool is_chosen = choice == interpose::DeviceChoice::cpu;
    return DeviceHere{
        true, {}, is_chosen ? "the CPU device" : "the CPU device, as there is no sign of a GPU"};
  }
  if (auto gpu = gpu_here(driver->path)) return *gpu;
  if (driver->is_by_signs) {
    return DeviceHere{
        true,
        {},
        fmt::format("the CPU device, as the driver {} has no usable device", driver->path)};
  }
  return system_error("the driver has no usable device", driver->path,
                      "use --device cpu to run on the CPU device");
}

std::string processors_text() {
  std::string text = fmt::format("{} of {}", available_processors(),
                                 std::max(1U, std::thread::hardware_concurrency()));
  const std::string model = value_of("/proc/cpuinfo", "model name");
  if (!model.empty()) text += fmt::format(" ({})", model);
  if (const std::string caches = caches_text(); !caches.empty()) text += ", caches " + caches;
  if (const auto quota = processor_quota()) {
    text += fmt::format("; the container's quota is {}", *quota);
  }
  return text;
}

std::string versions_text() {
  return fmt::format("{}, LLVM {}", built.version, built.llvm);
}

}  // namespace sluice::tools
