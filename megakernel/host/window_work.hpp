// What the workers of a HostExecutor do in a window.
#pragma once

#include <atomic>
#include <cstdint>
#include <exception>
#include <memory>
#include <mutex>

#include "megakernel/host/lost_time.hpp"
#include "megakernel/host/milestones.hpp"
#include "megakernel/host/parking.hpp"
#include "megakernel/host/scratch.hpp"
#include "megakernel/host/starvation.hpp"
#include "megakernel/host/task_signals.hpp"
#include "megakernel/host/task_times.hpp"
#include "megakernel/host/worker_queues.hpp"
#include "megakernel/window.hpp"

namespace sluice::megakernel {

// WindowWork runs the tasks of one window after another. Workers call run() between open() and
// close(), which are called while none of them does.
class WindowWork {
 public:
  WindowWork(uint32_t workers, Starvation* starvation);

  uint32_t workers() const { return workers_; }

  void open(const Window& window, TaskTimes* times);

  // run() takes tickets until none is left, and then is true; or until whether worker 0 is alone is
  // no longer what `alone` says, for others until it is. run_alone() runs the whole window in the
  // order of its tickets, with nobody else.
  bool run(uint32_t worker, bool alone = false);
  void run_alone();

  // has_short_launches() holds where workers wait for each other all the time: with queues of their
  // own and launches much shorter than the time slice that one of them may lose. What was never
  // measured isn't known to be short.
  bool has_short_launches() const;

  // goes_alone() says whether worker 0 is to go on alone.
  bool goes_alone() const;

  // close() tells of milestones that a failure kept back, and throws what a block threw.
  void close();

 private:
  struct alignas(64) Worker {
    Scratch scratch;
    uint32_t tasks = 0;  // that it has run, as far as they are of a launch that is measured
    LostTime lost;
  };
  // Ticket is a task that a worker has taken.
  struct Ticket {
    uint32_t number = 0;
    uint32_t worker = 0;
    TaskTimes::Worker* clock = nullptr;
  };

  void run_ticket(const Ticket& ticket);
  template <class AwaitReady>
  void run_when(const Ticket& ticket, AwaitReady await_ready);
  void run_blocks(const schedule::Task& task, Worker& worker);
  void await_masters(const schedule::Task& task, const Ticket& ticket);
  void await_launch(uint32_t launch, const Ticket& ticket);
  void await_task(uint32_t launch, uint32_t task, const Ticket& ticket);
  template <class Ready>
  void await(Parking& place, const Ticket& ticket, Ready ready);
  void note_failure();

  const uint32_t workers_;
  Starvation* const starvation_;
  const std::unique_ptr<Worker[]> each_;

  // Of the window being run.
  const Window* window_ = nullptr;
  TaskTimes* times_ = nullptr;
  uint64_t scratch_bytes_ = 0;
  TaskSignals signals_;
  Milestones milestones_;
  WorkerQueues queues_;
  alignas(64) std::atomic<bool> failed_{false};
  std::mutex mutex_;
  std::exception_ptr failure_;  // guarded by mutex_
};

}  // namespace sluice::megakernel
