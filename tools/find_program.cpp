#include "tools/find_program.hpp"

#include <cstdlib>
#include <filesystem>
#include <sstream>

#include <unistd.h>

#include "tools/built.hpp"

namespace sluice::tools {

namespace fs = std::filesystem;

std::string library_folder() {
  static const std::string folder = [] {
    std::error_code error;
    const fs::path own = fs::read_symlink("/proc/self/exe", error).parent_path();
    if (fs::exists(own / "libsluice.so", error)) return own.string();
    const fs::path installed = (own / built.libraries).lexically_normal();
    if (fs::exists(installed / "libsluice.so", error)) return installed.string();
    return (own.parent_path() / "lib").string();
  }();
  return folder;
}

std::string cpu_folder() {
  return library_folder() + "/cpu";
}

Result<std::string> find_program(const std::string& name) {
  if (name.find('/') != std::string::npos) {
    if (access(name.c_str(), F_OK) != 0) return system_error("no such program", name);
    return name;
  }
  const char* path = std::getenv("PATH");
  std::stringstream folders(path == nullptr ? "" : path);
  for (std::string folder; std::getline(folders, folder, ':');) {
    const std::string candidate = (folder.empty() ? "." : folder) + "/" + name;
    if (access(candidate.c_str(), X_OK) == 0) return candidate;
  }
  return system_error("no such program in PATH", name);
}

}  // namespace sluice::tools
