#include "tools/find_program.hpp"

#include <cstdlib>
#include <filesystem>
#include <sstream>

#include <unistd.h>

namespace sluice::tools {

std::string library_folder() {
  std::error_code error;
  const auto program = std::filesystem::read_symlink("/proc/self/exe", error);
  return (program.parent_path().parent_path() / "lib").string();
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
