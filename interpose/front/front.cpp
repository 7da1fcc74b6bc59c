// What is in every process under Sluice: the driver's functions by name, each a jump. The engine
// behind them is opened at the first call, so that a shell or a compiler is not kept waiting for
// it, nor shares its process with LLVM.
#include <atomic>
#include <cstddef>

#include <dlfcn.h>

#include "base/keep_errno.hpp"
#include "interpose/front/engine.hpp"
#include "interpose/front/open_beside.hpp"

using namespace sluice::interpose;

extern "C" {
// Generated (symbols/generate_forwarders.py).
extern const Front sluice_interpose_front;
}

namespace {

constexpr char engine_name[] = "libsluice-engine.so";
// Without the engine there is no driver either: which one lies below is the engine's to find.
constexpr char without_engine[] = "the driver's functions return CUDA_ERROR_NO_DEVICE";
constexpr int no_device = 100;  // CUDA_ERROR_NO_DEVICE

int no_engine() {
  return no_device;
}

const Engine* open_engine() {
  const LibraryPath path(engine_name);
  void* const library = open_beside(path, without_engine);
  if (library == nullptr) return nullptr;
  const auto start = reinterpret_cast<decltype(&sluice_engine)>(dlsym(library, "sluice_engine"));
  const Engine* const engine = start == nullptr ? nullptr : start(&sluice_interpose_front);
  if (engine == nullptr) tell_missing(path, without_engine, "it belongs to another build");
  return engine;
}

const Engine* engine() {
  static std::atomic<const Engine*> known{nullptr};
  if (const Engine* const opened = known.load(std::memory_order_acquire)) return opened;
  const sluice::KeepErrno keep;
  const Engine* const opened = open_engine();
  if (opened != nullptr) known.store(opened, std::memory_order_release);
  return opened;
}

}  // namespace

// Called by the stub of slot `index` with the caller's arguments kept safe; returns where to jump.
extern "C" void* sluice_interpose_enter(size_t index) {
  const Engine* const opened = engine();
  return opened == nullptr ? reinterpret_cast<void*>(&no_engine) : opened->enter(index);
}

extern "C" __attribute__((visibility("default"))) void sluice_remember_code(const void* image,
                                                                            size_t size,
                                                                            const char* ptx,
                                                                            size_t ptx_size) {
  if (const Engine* const opened = engine()) opened->remember_code(image, size, ptx, ptx_size);
}
