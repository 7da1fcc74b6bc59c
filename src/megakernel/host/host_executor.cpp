#include "megakernel/host/host_executor.hpp"

#include <algorithm>
#include <mutex>
#include <system_error>
#include <thread>
#include <vector>

#include <pthread.h>

#include "base/assert.hpp"
#include "base/processors.hpp"
#include "megakernel/host/crowd.hpp"
#include "megakernel/host/executor_state.hpp"
#include "megakernel/signals_blocked.hpp"

namespace sluice::megakernel {
void HostExecutor::State::start_threads() {
  const SignalsBlocked blocked;
  for (uint32_t worker = 1; worker < workers; ++worker) {
    try {
      threads.emplace_back([this, worker] { thread_main(worker); });
    } catch (const std::system_error&) {
      return;  // Any number of workers is enough, and the calling thread is always one.
    }
  }
}

void HostExecutor::State::stop_threads() {
  stopping.store(true);
  window_changed.notify();
  for (std::thread& thread : threads) {
    thread.join();
  }
}

void HostExecutor::State::thread_main(uint32_t worker) {
  pthread_setname_np(pthread_self(), "sluice-worker");
  uint64_t seen = 0;
  for (;;) {
    window_changed.wait([&] { return stopping.load() || opened_epoch.load() != seen; });
    if (stopping.load()) return;
    seen = opened_epoch.load();
    if (!join(worker)) continue;
    work(worker);
    {
      const std::lock_guard lock(mutex);
      clocks[worker] = {};
    }
    left.fetch_add(1);
    window_changed.notify();
  }
}

bool HostExecutor::State::join(uint32_t worker) {
  const std::lock_guard lock(mutex);
  if (!open || leaves_to_one()) return false;
  ++joined;
  clocks[worker] = ThreadClock::of_this_thread();
  if (std::ranges::find(taken, current_processor()) != taken.end()) move_away(taken);
  taken.push_back(current_processor());
  return true;
}

// What was not known to be short when the window opened may have been measured meanwhile.
bool HostExecutor::State::leaves_to_one() {
  expect_crowd();
  if (!crew.begin()) return false;
  alone.store(true);
  return true;
}

void HostExecutor::State::prepare(const Window& next) {
  window = &next;
  ++epoch;
  flags.open(next.flag_count);
  if (next.slots.size() > counter_capacity) {
    counters = std::make_unique<TaskCounter[]>(next.slots.size());
    counter_capacity = next.slots.size();
  }
  scratch_bytes = 0;
  for (size_t i = 0; i < next.slots.size(); ++i) {
    counters[i].finished.store(0);
    counters[i].total = task_count(next.slots[i]);
    counters[i].counting = false;
    scratch_bytes = std::max(scratch_bytes, next.slots[i].code.scratch_bytes);
  }
  for (const SlotDependence& dependence : next.dependences) {
    SLUICE_ASSERT(dependence.task_edges != nullptr);
    if (dependence.task_edges->waits_for_launch()) counters[dependence.master_slot].counting = true;
  }
  failure = nullptr;
  failed.store(false);
  lanes.open(next, workers);
  left.store(0);
}

void HostExecutor::State::share_out() {
  expect_crowd();
  if (crew.begin()) return leave_to_caller();
  holds_back = may_be_crowded();
  open_window();
  work(0);
  const uint32_t all = close_window();
  // Every ticket was taken by the calling thread or by one that joined, so when all have left
  // every task is done.
  window_changed.wait([&] { return left.load() == all; });
}

// The clock is read at both ends of a time alone, not in each window: reading it makes the kernel
// look whether the thread's time slice is over, which in a crowd ends the slice milliseconds early.
void HostExecutor::State::leave_to_caller() {
  if (!alone_clock.is_of_this_thread()) {
    alone_clock = ThreadClock::of_this_thread();
    crew.begin_anew();
  }
  const bool is_coupled = has_short_launches(*window);
  const Clock::time_point start = Clock::now();
  work_alone();
  if (!crew.ended_alone(Clock::now() - start, is_coupled)) return;
  crew.judge(alone_clock.used());
  alone_clock = {};
}

void HostExecutor::State::open_window() {
  {
    const std::lock_guard lock(mutex);
    open = true;
    joined = 0;
    taken.assign(1, current_processor());
    slept = {};
    opened = Clock::now();
    std::ranges::fill(clocks, ThreadClock());
    clocks[0] = ThreadClock::of_this_thread();
    alone.store(false, std::memory_order_relaxed);
  }
  if (!holds_back) call_others();
}

void HostExecutor::State::call_others() {
  if (threads.empty()) start_threads();
  opened_epoch.store(epoch);
  window_changed.notify();
}

void HostExecutor::State::stop_holding_back() {
  {
    const std::lock_guard lock(mutex);
    if (!is_measured(*window) && Clock::now() - opened < config.most_held_back) return;
    holds_back = false;
    if (leaves_to_one()) return;
  }
  call_others();
}

uint32_t HostExecutor::State::close_window() {
  const std::lock_guard lock(mutex);
  open = false;
  if (!alone.load(std::memory_order_relaxed)) crew.kept(Clock::now() - opened);
  return joined;
}

HostExecutor::HostExecutor(const Config& config)
    : state_(std::make_unique<State>(
          config.workers != 0 ? config : Config(config).set_workers(available_processors()))) {}

HostExecutor::~HostExecutor() {
  state_->stop_threads();
}

uint32_t HostExecutor::workers() const {
  return state_->workers;
}

std::vector<double> HostExecutor::speeds() const {
  return state_->speeds.get();
}

void HostExecutor::run(const Window& window, TaskTimes* times) {
  State& state = *state_;
  if (window.tasks.empty()) return;
  state.prepare(window);
  state.times = times;
  if (state.workers == 1 || window.tasks.size() == 1) {
    state.work_alone();
  } else {
    state.share_out();
  }
  state.speeds.end_window();
  if (state.failure) std::rethrow_exception(state.failure);
}

}  // namespace sluice::megakernel
