#include "interpose/driver/driver_search.hpp"

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <optional>
#include <sstream>

#include <elf.h>

#include "base/file/elf.hpp"
#include "base/file/mapped_file.hpp"

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

// hides_all_devices() is CUDA's reading of the list: it ends at the first entry that is no device.
bool hides_all_devices(const std::string& visible) {
  const bool is_index = !visible.empty() && visible.front() >= '0' && visible.front() <= '9';
  return !is_index && !visible.starts_with("GPU-") && !visible.starts_with("MIG-");
}

// "nvidia0" and so on; nvidiactl and nvidia-uvm are there without a GPU too.
bool is_device_file(const std::string& name) {
  return name == "dxg" || (name.starts_with("nvidia") && name.size() > 6 &&
                           name.find_first_not_of("0123456789", 6) == std::string::npos);
}

// Tests put a folder in the place of the system's.
std::string root_of_signs() {
  const char* root = std::getenv("SLUICE_DEVICE_FILES");
  return root == nullptr ? "/" : root;
}

bool is_library_for_this_machine(const std::string& path) {
  const Result<MappedFile> file = MappedFile::open(path);
  const auto header = file ? elf64_header(file->bytes()) : std::nullopt;
  return header && header->e_machine == EM_X86_64;
}

}  // namespace

Result<DeviceChoice> device_choice(const std::string& text) {
  if (text.empty() || text == "auto") return DeviceChoice::automatic;
  if (text == "gpu") return DeviceChoice::gpu;
  if (text == "cpu") return DeviceChoice::cpu;
  return invalid_input("'" + text + "' is no device", {}, "use auto, gpu or cpu");
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

bool shows_gpu(const std::string& root) {
  const char* visible = std::getenv("CUDA_VISIBLE_DEVICES");
  if (visible != nullptr && hides_all_devices(visible)) return false;
  std::error_code error;
  for (const fs::directory_entry& file : fs::directory_iterator(fs::path(root) / "dev", error)) {
    if (is_device_file(file.path().filename().string())) return true;
  }
  const fs::directory_iterator gpus(fs::path(root) / "proc/driver/nvidia/gpus", error);
  return !error && gpus != fs::directory_iterator() &&
         fs::exists(fs::path(root) / "usr/bin/nvidia-modprobe", error);
}

Result<FoundDriver> choose_driver(DeviceChoice choice, const std::string& library_folder,
                                  bool (*serves)(const std::string& path)) {
  const bool by_signs = choice == DeviceChoice::automatic;
  if (choice == DeviceChoice::gpu || (by_signs && shows_gpu(root_of_signs()))) {
    for (const std::string& path : gpu_driver_candidates(library_folder)) {
      if (serves(path)) return FoundDriver{path, false, by_signs};
    }
  }
  if (choice == DeviceChoice::gpu) {
    return system_error("no NVIDIA driver was found", "device gpu",
                        "use --device cpu (or SLUICE_DEVICE=cpu) to run on the CPU device");
  }
  const fs::path cpu = fs::path(library_folder) / "cpu" / "libcuda.so.1";
  std::error_code error;
  if (!fs::exists(cpu, error)) {
    return system_error("the CPU device is missing", cpu.string(), "build it with scripts/build");
  }
  return FoundDriver{cpu.string(), true, false};
}

Result<FoundDriver> expected_driver(DeviceChoice choice, const std::string& library_folder) {
  return choose_driver(choice, library_folder, is_library_for_this_machine);
}

}  // namespace sluice::interpose
