// libcudart.so.13 and .12 as every process on the CPU device has them: the runtime's functions by
// name, each a jump. The library behind them, with all that it needs, is opened at the first call.
#include <atomic>
#include <cstddef>
#include <cstring>

#include <dlfcn.h>

#include "base/keep_errno.hpp"
#include "interpose/front/open_beside.hpp"

using namespace sluice::interpose;

extern "C" {
// Generated (symbols/generate_forwarders.py).
extern std::atomic<void*> sluice_interpose_slots[];
extern const char sluice_interpose_names[];  // one behind the other
}

namespace {

constexpr int no_device = 100;  // cudaErrorNoDevice

int no_runtime() {
  return no_device;
}
const char* no_text() {
  return "the CUDA runtime cannot be opened";
}

void* runtime() {
  static std::atomic<void*> known{nullptr};
  void* library = known.load(std::memory_order_acquire);
  if (library == nullptr) {
    library = open_beside(LibraryPath(SLUICE_RUNTIME),
                          "the runtime's functions return cudaErrorNoDevice");
    known.store(library, std::memory_order_release);
  }
  return library;
}

const char* name_of(size_t index) {
  const char* name = sluice_interpose_names;
  for (; index > 0; --index)
    name += std::strlen(name) + 1;
  return name;
}

}  // namespace

// Called by the stub of slot `index` with the caller's arguments kept safe; returns where to jump.
extern "C" void* sluice_interpose_enter(size_t index) {
  const sluice::KeepErrno keep;
  const char* const name = name_of(index);
  void* const library = runtime();
  void* function = library == nullptr ? nullptr : dlsym(library, name);
  if (function != nullptr) {
    sluice_interpose_slots[index].store(function, std::memory_order_relaxed);
  } else {
    const bool gives_text =
        std::strcmp(name, "cudaGetErrorName") == 0 || std::strcmp(name, "cudaGetErrorString") == 0;
    function =
        gives_text ? reinterpret_cast<void*>(&no_text) : reinterpret_cast<void*>(&no_runtime);
  }
  return function;
}
