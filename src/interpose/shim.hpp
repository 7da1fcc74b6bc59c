// The state of the shim in this process.
#pragma once

#include <cerrno>
#include <string>

#include "interpose/driver_calls.hpp"
#include "runtime/runtime.hpp"

namespace sluice::interpose {

// Shim is the one object behind the exported functions. It is made on first use and never
// destroyed: cudart's exit handlers call the driver after static destructors have run.
class Shim {
 public:
  // get() opens the real driver at the first call. Thread-safe.
  static Shim& get();

  // driver_ready() is false where no driver could be opened; every call then gets
  // CUDA_ERROR_NO_DEVICE, and the reason has been logged.
  bool driver_ready() const { return library_ != nullptr; }

  // real() is the driver's function of that exact name, or nullptr.
  void* real(const char* symbol) const;
  const DriverCalls& calls() const { return calls_; }

  // runtime() is null until cuInit has succeeded, and where Sluice is off (SLUICE_OFF, a journal
  // that cannot be written, a forked child).
  runtime::Runtime* runtime() const;

  // start_runtime() makes the runtime once; called after a successful cuInit.
  void start_runtime();

 private:
  Shim();
  bool refuse_static_runtime(bool is_cpu_device) const;

  void* library_ = nullptr;
  bool off_ = false;
  DriverCalls calls_;
};

// ErrnoGuard gives the caller's errno back: the driver's functions do not change it.
class ErrnoGuard {
 public:
  ErrnoGuard() : saved_(errno) {}
  ~ErrnoGuard() { errno = saved_; }
  ErrnoGuard(const ErrnoGuard&) = delete;
  ErrnoGuard& operator=(const ErrnoGuard&) = delete;

 private:
  int saved_;
};

// flushed_runtime() closes all windows and returns the runtime (null where there is none).
inline runtime::Runtime* flushed_runtime() {
  runtime::Runtime* runtime = Shim::get().runtime();
  if (runtime != nullptr) runtime->flush();
  return runtime;
}

}  // namespace sluice::interpose
