// Windows on the device: planned, and run by its backend or by the host's workers.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>

#include "megakernel/host/task_times.hpp"
#include "megakernel/window_backend.hpp"
#include "runtime/device.hpp"
#include "runtime/gate.hpp"
#include "runtime/stream/executor_pool.hpp"
#include "runtime/stream/planned_window.hpp"

namespace sluice::runtime {

// WindowRunner. Thread-safe.
class WindowRunner {
 public:
  struct Config {
    uint32_t workers = 0;  // of the host; 0: one for each processor
    uint32_t stress = 0;   // not 0: the seed of random topological orders
    bool times_tasks = false;
    bool only_what_pays = false;  // see pays()
  };
  // `backend` (may be null) runs the windows in place of the host's workers.
  WindowRunner(Device& device, megakernel::WindowBackend* backend, Gate& gate,
               const Config& config);

  // Ended hears, once and under the runtime's lock, that a window has ended: whether with an error,
  // and when its tasks ran, where that was asked for.
  using Ended = std::function<void(bool failed, const megakernel::TaskTimes* times)>;

  // may_wait() is whether submit() and when_done() may take long or wait for room in the stream,
  // and so are called without the lock; else they are called under it.
  bool may_wait() const { return backend_ != nullptr; }
  // submit() gives the window to the device in the order of its stream and returns the CUresult.
  // Where that is an error, or where it throws, `ended` is never called.
  int submit(std::shared_ptr<PlannedWindow> window, Ended ended);

  // pays() is whether a window may take less than its launches one by one, as far as a backend's
  // costs say; others run whatever they take, and so do all where nobody asked for that.
  bool pays(const LaunchWindow& window);
  // when_done() calls `done`, under the lock, when the device is done with all that the stream has
  // so far. Where it returns an error `done` is never called.
  int when_done(const StreamKey& stream, std::function<void()> done);

  // running() counts the windows that the host's workers are running.
  size_t running() const { return running_; }
  // planned() counts the windows that were planned so far.
  schedule::Planner::Count planned() { return planner_.count(); }

 private:
  int submit_together(std::shared_ptr<PlannedWindow> window, Ended ended);
  void run(PlannedWindow& window, const Ended& ended);
  bool plan(PlannedWindow& window) noexcept;

  Device& device_;
  megakernel::WindowBackend* const backend_;
  Gate& gate_;
  const bool times_tasks_;
  const bool only_what_pays_;
  ExecutorPool executors_;
  schedule::Planner planner_;
  std::atomic<size_t> running_{0};
};

}  // namespace sluice::runtime
