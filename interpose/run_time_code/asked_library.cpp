#include "interpose/run_time_code/asked_library.hpp"

#include <climits>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include <unistd.h>

namespace sluice::interpose {
namespace {

constexpr char asked_prefix[] = "libsluice-asked-";
constexpr char no_file[] = "/dev/fd/no-file";

// Forwarder stands for a library of one name: until it is loaded for the last that was asked for,
// since who asks may only look whether it is there.
struct Forwarder {
  const char* name;
  char asked[PATH_MAX];
  char path[PATH_MAX];
};

Forwarder* forwarder_named(const char* name) {
  static Forwarder all[] = {{"libnvrtc.so.12", {}, {}},
                            {"libnvrtc.so.13", {}, {}},
                            {"libnvJitLink.so.12", {}, {}},
                            {"libnvJitLink.so.13", {}, {}}};
  for (Forwarder& forwarder : all) {
    const size_t length = std::strlen(forwarder.name);
    const bool is_it = std::strncmp(name, forwarder.name, length) == 0 &&
                       (name[length] == '\0' || name[length] == '.');
    if (is_it) return &forwarder;
  }
  return nullptr;
}

const char* file_name(const char* path) {
  const char* const slash = std::strrchr(path, '/');
  return slash == nullptr ? path : slash + 1;
}

// The dynamic linker knows a forwarder by the path that was asked for, where it found that itself,
// and would take that path for the forwarder again: so the library has it in another form.
bool set_asked(Forwarder& forwarder, const char* path) {
  const auto folder_length = static_cast<int>(file_name(path) - path);
  const int length = std::snprintf(forwarder.asked, sizeof forwarder.asked, "%.*s./%s",
                                   folder_length, path, file_name(path));
  return length > 0 && static_cast<size_t>(length) < sizeof forwarder.asked;
}

bool set_path(Forwarder& forwarder, const char* folder) {
  const int length =
      std::snprintf(forwarder.path, sizeof forwarder.path, "%s%s", folder, forwarder.name);
  return length > 0 && static_cast<size_t>(length) < sizeof forwarder.path &&
         access(forwarder.path, R_OK) == 0;
}

}  // namespace

const char* asked_library(const char* file, const char* folder) {
  const char* const name = file_name(file);
  if (std::strncmp(name, asked_prefix, sizeof asked_prefix - 1) == 0) {
    const Forwarder* const forwarder = forwarder_named(name + sizeof asked_prefix - 1);
    return forwarder != nullptr && forwarder->asked[0] != '\0' ? forwarder->asked : file;
  }
  // A name without a folder is searched for, and every path that is tried comes here again.
  const bool may_be =
      std::strncmp(name, "libnvrtc.so", 11) == 0 || std::strncmp(name, "libnvJitLink.so", 15) == 0;
  if (!may_be || name == file) return file;
  char real[PATH_MAX];
  if (realpath(file, real) == nullptr) return file;
  Forwarder* const forwarder = forwarder_named(file_name(real));
  if (forwarder == nullptr) return file;
  // The folder is among those that are searched (LD_LIBRARY_PATH). Where nothing is returned the
  // linker goes on only if what failed before said "no such file": a file that is not there does.
  if (std::strncmp(real, folder, std::strlen(folder)) == 0) return no_file;
  return set_asked(*forwarder, real) && set_path(*forwarder, folder) ? forwarder->path : file;
}

}  // namespace sluice::interpose
