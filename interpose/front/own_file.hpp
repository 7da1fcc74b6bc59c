// Where the library that this is compiled into lies.
#pragma once

#include <cstddef>
#include <cstring>

#include <dlfcn.h>

namespace sluice::interpose {

// own_file() is its path, as long as the process lives; null where the dynamic linker does not know
// it. Thread-safe.
inline const char* own_file() {
  Dl_info info = {};
  return dladdr(reinterpret_cast<const void*>(&own_file), &info) == 0 ? nullptr : info.dli_fname;
}

// path_beside() writes the path of a file of that name in the same folder; false where that has no
// room or is not known.
inline bool path_beside(const char* name, char* path, size_t size) {
  const char* const own = own_file();
  if (own == nullptr) return false;
  const char* const slash = std::strrchr(own, '/');
  const size_t folder = slash == nullptr ? 0 : static_cast<size_t>(slash - own) + 1;
  const size_t length = std::strlen(name) + 1;
  if (folder + length > size) return false;
  std::memcpy(path, own, folder);
  std::memcpy(path + folder, name, length);
  return true;
}

}  // namespace sluice::interpose
