// What the workers of a HostExecutor share.
#pragma once

#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <exception>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "megakernel/host/crew.hpp"
#include "megakernel/host/flags.hpp"
#include "megakernel/host/host_executor.hpp"
#include "megakernel/host/lanes.hpp"
#include "megakernel/host/parking.hpp"
#include "megakernel/host/scratch.hpp"
#include "megakernel/host/task_edges.hpp"
#include "megakernel/host/task_times.hpp"
#include "megakernel/host/thread_clock.hpp"
#include "megakernel/host/worker_speeds.hpp"

namespace sluice::megakernel {

struct HostExecutor::State {
  using Clock = std::chrono::steady_clock;

  explicit State(const Config& wanted)
      : config(wanted),
        workers(config.workers),
        scratch(workers),
        speeds(workers),
        clocks(workers) {}

  void start_threads();
  void stop_threads();
  void thread_main(uint32_t worker);
  bool join(uint32_t worker);
  bool leaves_to_one();

  void prepare(const Window& window);
  // share_out() runs the prepared window with the other workers, where that is found to pay.
  void share_out();
  // leave_to_caller() runs it by the calling thread, while that is found to be better.
  void leave_to_caller();
  void open_window();
  void call_others();
  // stop_holding_back() calls the others as soon as it is known that they are of use.
  void stop_holding_back();
  // close_window() is how many workers joined: from then on no more do.
  uint32_t close_window();
  // Ticket is a task that a worker has taken.
  struct Ticket {
    uint32_t number = 0;
    uint32_t worker = 0;
    TaskTimes::Worker* clock = nullptr;
  };
  void work(uint32_t worker);
  void work_alone();
  void run_ticket(const Ticket& ticket);
  template <class AwaitReady>
  void run_when(const Ticket& ticket, AwaitReady await_ready);
  void run_task(const Task& task, const Ticket& ticket);
  void await_masters(const LaunchSlot& slot, const Task& task, const Ticket& ticket);
  void await_launch(uint32_t master_slot, const Ticket& ticket);
  void await_tasks(uint32_t master_slot, const TaskRange& tasks, const Ticket& ticket);
  template <class Ready>
  void await(Parking& place, const Ticket& ticket, Ready ready);
  void release(const LaunchSlot& slot, const Task& task);
  void note_sleep(std::chrono::nanoseconds time);
  void expect_crowd();
  bool may_be_crowded();
  void note_failure();

  const Config config;
  const uint32_t workers;
  std::vector<std::thread> threads;  // of workers 1 and up, started by the first window
  std::vector<Scratch> scratch;
  WorkerSpeeds speeds;

  // Of the window being run. Workers read these after joining it, and run() changes them only
  // when all who joined have left.
  const Window* window = nullptr;
  TaskTimes* times = nullptr;
  uint64_t epoch = 0;
  uint64_t scratch_bytes = 0;
  EpochFlags flags;
  std::unique_ptr<TaskCounter[]> counters;
  size_t counter_capacity = 0;
  std::exception_ptr failure;  // guarded by mutex
  Lanes lanes;
  alignas(64) std::atomic<bool> failed{false};

  std::mutex mutex;
  bool open = false;    // workers may join; guarded by mutex
  uint32_t joined = 0;  // guarded by mutex
  // The processor time of each worker in the window; guarded by mutex, as the two after it.
  std::vector<ThreadClock> clocks;
  std::vector<int> taken;  // the processors of the workers that joined; guarded by mutex
  Clock::time_point opened;
  std::chrono::nanoseconds slept{0};
  ThreadClock alone_clock;  // of the calling thread in its time alone
  Crew crew;                // while a window is open, guarded by mutex, as the next
  bool has_asked_for_crowd = false;
  bool holds_back = false;         // the others are not called yet; of the calling thread
  std::atomic<bool> alone{false};  // all but the calling thread leave
  std::atomic<uint32_t> left{0};
  std::atomic<uint64_t> opened_epoch{0};
  std::atomic<bool> stopping{false};
  // Flags and counters, several of them to a place, so that who sleeps is woken by few others.
  static constexpr size_t parking_places = 64;
  std::array<Parking, parking_places> flag_changed;
  std::array<Parking, parking_places> counter_changed;
  Parking window_changed;  // opened_epoch, stopping, left
};

}  // namespace sluice::megakernel
