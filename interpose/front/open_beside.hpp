// Opening the library behind a jump table.
#pragma once

#include <atomic>
#include <cstdio>

#include <dlfcn.h>

#include "interpose/front/own_file.hpp"
#include "interpose/static_runtime/message.hpp"

namespace sluice::interpose {

// tell_missing() says, at its first call alone, why what is at `path` is of no use, and what comes
// of that.
inline void tell_missing(const LibraryPath& path, const char* consequence, const char* reason) {
  static std::atomic<bool> told{false};
  if (told.exchange(true) || !is_logged(Line::error)) return;
  char what[512];
  std::snprintf(what, sizeof what, "%s: %s", consequence, reason);
  tell(path.text, what, "install Sluice as a whole");
}

// open_beside() returns the library's handle; null, and then it is told, where it cannot be opened.
// No lock is held meanwhile: another thread may hold the dynamic linker's and come here from a
// library's constructor. Who opens it a second time gets the same one.
inline void* open_beside(const LibraryPath& path, const char* consequence) {
  void* const library = dlopen(path.text, RTLD_LAZY | RTLD_LOCAL);
  if (library == nullptr) tell_missing(path, consequence, dlerror());
  return library;
}

}  // namespace sluice::interpose
