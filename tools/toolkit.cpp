#include "tools/toolkit.hpp"

#include <cstdlib>
#include <filesystem>
#include <functional>
#include <system_error>

#include <fmt/format.h>

#include "base/cache_folder.hpp"

namespace sluice::tools {
namespace {

namespace fs = std::filesystem;

// Links in `folder` to all that `source` has, but for what is called `except`.
void link_all(const fs::path& source, const fs::path& folder, const char* except) {
  fs::create_directory(folder);
  for (const fs::directory_entry& entry : fs::directory_iterator(source)) {
    const fs::path name = entry.path().filename();
    if (name != except) fs::create_symlink(entry.path(), folder / name);
  }
}

// Made under another name first, so that programs side by side never see half of it.
void make(const fs::path& toolkit, const fs::path& own_nvcc, const fs::path& made) {
  fs::create_directories(made.parent_path());
  std::string pattern = made.string() + ".XXXXXX";
  if (mkdtemp(pattern.data()) == nullptr) return;
  std::error_code error;
  try {
    link_all(toolkit, pattern, "bin");
    link_all(toolkit / "bin", fs::path(pattern) / "bin", "nvcc");
    // A copy: a program that follows links would leave the folder.
    fs::copy_file(own_nvcc, fs::path(pattern) / "bin/nvcc");
    fs::rename(pattern, made);
  } catch (const fs::filesystem_error&) {
    // Another process was faster, or the cache is full: what is there counts.
    fs::remove_all(pattern, error);
  }
}

}  // namespace

std::string folder_of_own_nvcc(const std::string& nvcc, const std::string& own_nvcc) {
  std::error_code error;
  const fs::path bin = fs::absolute(nvcc, error).parent_path();
  const std::string cache = cache_path("", "toolkits");
  const fs::path toolkit = bin.parent_path();
  std::string own_folder = fs::path(own_nvcc).parent_path().string();
  if (error || cache.empty() || bin.filename() != "bin") return own_folder;
  // A program under Sluice that starts another one so.
  if (toolkit.parent_path() == cache) return bin.string();
  const std::string text = toolkit.string() + file_identity(own_nvcc);
  const fs::path made = fs::path(cache) / fmt::format("{:016x}", std::hash<std::string>{}(text));
  try {
    if (!fs::exists(made)) make(toolkit, own_nvcc, made);
  } catch (const fs::filesystem_error&) {
    return own_folder;
  }
  return fs::exists(made / "bin/nvcc", error) ? (made / "bin").string() : own_folder;
}

}  // namespace sluice::tools
