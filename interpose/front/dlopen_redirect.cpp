// Which file a program's dlopen of the driver opens: the shim itself, whatever name it used.
#include <cstring>

#include <dlfcn.h>

#include "base/keep_errno.hpp"
#include "interpose/front/own_file.hpp"

extern "C" {

__attribute__((visibility("hidden"))) void* (*sluice_real_dlopen)(const char*, int) = nullptr;

// Returns the name to open: libcuda.so, libcuda.so.N and any path to one become the shim's own
// file. Called by the exported dlopen with its first argument.
__attribute__((visibility("hidden"))) const char* sluice_redirect_library(const char* file) {
  const sluice::KeepErrno keep;
  if (sluice_real_dlopen == nullptr) {
    sluice_real_dlopen = reinterpret_cast<void* (*)(const char*, int)>(dlsym(RTLD_NEXT, "dlopen"));
  }
  if (file == nullptr) return nullptr;
  const char* slash = std::strrchr(file, '/');
  const char* name = slash == nullptr ? file : slash + 1;
  return std::strncmp(name, "libcuda.so", 10) == 0 ? sluice::interpose::own_file() : file;
}

}  // extern "C"
