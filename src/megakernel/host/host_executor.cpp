#include "megakernel/host/host_executor.hpp"

#include <algorithm>
#include <mutex>
#include <system_error>
#include <thread>
#include <vector>

#include <pthread.h>

#include "base/processors.hpp"
#include "megakernel/host/crowd.hpp"
#include "megakernel/host/executor_state.hpp"
#include "megakernel/signals_blocked.hpp"
#include "megakernel/validate.hpp"

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
  std::unique_lock lock(mutex);
  if (!open) return false;
  ++joined;
  clocks[worker] = ThreadClock::of_this_thread();
  const int here = current_processor();
  const bool is_taken = std::find(taken.begin(), taken.end(), here) != taken.end();
  if (!is_taken) {
    taken.push_back(here);
    return true;
  }
  const std::vector<int> left = taken;
  lock.unlock();
  move_away(left);
  const int there = current_processor();
  lock.lock();
  taken.push_back(there);
  return true;
}

void HostExecutor::State::prepare(const Window& next) {
  window = &next;
  ++epoch;
  flags.reserve(next.flag_count);
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
    if (is_whole_launch(*dependence.edges)) counters[dependence.master_slot].counting = true;
  }
  failure = nullptr;
  failed.store(false);
  lanes.open(next, workers);
  left.store(0);
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
  using Clock = State::Clock;
  State& state = *state_;
  if (window.tasks.empty()) return;
  state.prepare(window);
  state.times = times;
  const bool needs_nobody = state.workers == 1 || window.tasks.size() == 1;
  const bool is_coupled = !needs_nobody && has_short_launches(window);
  if (is_coupled) state.expect_crowd();
  const bool alone = needs_nobody || state.crew.begin();
  const Clock::time_point start = Clock::now();
  const ThreadClock clock = ThreadClock::of_this_thread();
  state.alone.store(alone, std::memory_order_relaxed);
  if (!alone) {
    if (state.threads.empty()) state.start_threads();
    {
      const std::lock_guard lock(state.mutex);
      state.open = true;
      state.joined = 0;
      state.taken.assign(1, current_processor());
      state.slept = {};
      state.opened = start;
      std::fill(state.clocks.begin(), state.clocks.end(), ThreadClock());
      state.clocks[0] = clock;
    }
    state.opened_epoch.store(state.epoch);
    state.window_changed.notify();
  }
  if (alone) {
    state.work_alone();
  } else {
    state.work(0);
  }
  uint32_t joined = 0;
  if (!alone) {
    const std::lock_guard lock(state.mutex);
    state.open = false;
    joined = state.joined;
    if (!state.alone.load(std::memory_order_relaxed)) state.crew.kept(Clock::now() - start);
  } else if (!needs_nobody) {
    const std::chrono::nanoseconds wall = Clock::now() - start;
    state.crew.ended_alone(wall, is_coupled ? clock.used() : wall);
  }
  // Every ticket was taken by the calling thread or by one that joined, so when all have left
  // every task is done.
  state.window_changed.wait([&] { return state.left.load() == joined; });
  state.speeds.end_window();
  if (state.failure) std::rethrow_exception(state.failure);
}

}  // namespace sluice::megakernel
