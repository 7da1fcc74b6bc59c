// Where the library that this is compiled into lies.
#pragma once

#include <climits>
#include <cstddef>
#include <cstdlib>
#include <cstring>

#include <dlfcn.h>

namespace sluice::interpose {

// own_file() is its path, as long as the process lives; null where the dynamic linker does not know
// it. Thread-safe.
inline const char* own_file() {
  Dl_info info = {};
  return dladdr(reinterpret_cast<const void*>(&own_file), &info) == 0 ? nullptr : info.dli_fname;
}

// LibraryPath is the path of a file of that name in the same folder, wherever a link to this one
// lies; the name alone where that has no room or is not known.
struct LibraryPath {
  explicit LibraryPath(const char* name) {
    const char* const own = own_file();
    const bool is_known = own != nullptr && realpath(own, text) != nullptr;
    char* file = is_known ? std::strrchr(text, '/') + 1 : text;
    const size_t length = std::strlen(name) + 1;
    if (length > static_cast<size_t>(text + sizeof text - file)) file = text;
    std::memcpy(file, name, length);
  }
  char text[PATH_MAX] = {};
};

}  // namespace sluice::interpose
