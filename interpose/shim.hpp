// The state of the shim in this process.
#pragma once

#include <atomic>
#include <mutex>
#include <string>
#include <type_traits>

#include "base/keep_errno.hpp"
#include "interpose/driver/driver_calls.hpp"
#include "interpose/wrappers/stream_keys.hpp"
#include "runtime/check/host_copy.hpp"
#include "runtime/races/ordering.hpp"
#include "runtime/races/stream_clocks.hpp"
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
  bool driver_ready() const { return library() != nullptr; }

  // is_decided() is false while another driver may still take the place of the one found: until
  // initialise(). What depends on the driver must not be kept before.
  bool is_decided() const { return decided_.load(std::memory_order_acquire); }

  // initialise() is the program's cuInit. Where a driver that was found by signs of a GPU has no
  // usable device, the CPU device takes its place, unless the program's CUDA runtime needs the
  // GPU's driver: then the error is the driver's, with a line in the log. Thread-safe.
  CUresult initialise(unsigned flags);

  // library() is the handle of the driver's library, real() its function of that exact name, or
  // nullptr.
  void* library() const { return driver()->library; }
  void* real(const char* symbol) const;
  const DriverCalls& calls() const { return driver()->calls; }

  // runtime() is null until cuInit has succeeded, and where Sluice is off (SLUICE_OFF, a journal
  // that cannot be written, a forked child).
  runtime::Runtime* runtime() const;

  // start_runtime() makes the runtime once; called after a successful cuInit.
  void start_runtime();

 private:
  Shim();
  // Driver is an opened driver; it lives as long as the process.
  struct Driver {
    void* library = nullptr;
    DriverCalls calls;
  };
  static const Driver* open(const std::string& path);
  const Driver* driver() const { return driver_.load(std::memory_order_acquire); }
  bool has_device() const;
  void fall_back(CUresult reason);

  bool off_ = false;
  std::atomic<const Driver*> driver_;
  std::atomic<bool> decided_{true};
  std::mutex deciding_;
};

// throw_assertion() is what happens where an assertion of ours fails: AssertionFailure.
[[noreturn]] void throw_assertion(const char* condition, const char* file, int line);

// Each function of the driver keeps the caller's: the driver's own do not change it.
using sluice::KeepErrno;

// driver() is the driver's own functions.
inline const DriverCalls& driver() {
  return Shim::get().calls();
}

// races() is what hears of calls that order work or move bytes; null where races are not checked.
inline runtime::RaceObserver* races() {
  const runtime::Runtime* runtime = Shim::get().runtime();
  return runtime == nullptr ? nullptr : runtime->races();
}

// copies() is what hears of copies to the host; null where these are not hashed.
inline runtime::HostCopies* copies() {
  const runtime::Runtime* runtime = Shim::get().runtime();
  return runtime == nullptr ? nullptr : runtime->copies();
}

// tell_races() tells them of such a call: tell_races(&StreamClocks::event_done, event). A stream's
// handle goes as its key.
template <class... Taken, class... Given>
void tell_races(void (runtime::StreamClocks::*what)(Taken...), Given... given) {
  [[maybe_unused]] const auto named = [](auto one) {
    if constexpr (std::is_same_v<decltype(one), CUstream>) {
      return key_of(one);
    } else {
      return one;
    }
  };
  if (races() == nullptr) return;
  runtime::tell_clocks(*races(),
                       [&](runtime::StreamClocks& clocks) { (clocks.*what)(named(given)...); });
}

// flushed_runtime() closes all windows and returns the runtime (null where there is none).
inline runtime::Runtime* flushed_runtime() {
  runtime::Runtime* runtime = Shim::get().runtime();
  if (runtime != nullptr) runtime->flush();
  return runtime;
}

}  // namespace sluice::interpose
