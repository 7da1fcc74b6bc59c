#include "megakernel/host/host_executor.hpp"

#include <array>
#include <atomic>
#include <exception>
#include <mutex>
#include <system_error>
#include <thread>
#include <vector>

#include <pthread.h>
#include <sched.h>

#include "base/assert.hpp"
#include "megakernel/host/flags.hpp"
#include "megakernel/host/parking.hpp"
#include "megakernel/host/scratch.hpp"
#include "megakernel/host/task_times.hpp"
#include "megakernel/signals_blocked.hpp"
#include "megakernel/validate.hpp"

namespace sluice::megakernel {
namespace {

uint32_t available_processors() {
  cpu_set_t set;
  CPU_ZERO(&set);
  if (sched_getaffinity(0, sizeof set, &set) == 0) {
    return static_cast<uint32_t>(std::max(1, CPU_COUNT(&set)));
  }
  return std::max(1U, std::thread::hardware_concurrency());
}

uint32_t task_count(const LaunchSlot& slot) {
  return static_cast<uint32_t>((uint64_t{slot.block_count} + slot.blocks_per_task - 1) /
                               slot.blocks_per_task);
}

}  // namespace

struct HostExecutor::State {
  explicit State(uint32_t worker_count) : workers(worker_count), scratch(worker_count) {}

  void start_threads();
  void stop_threads();
  void thread_main(uint32_t worker);

  void prepare(const Window& window);
  void work(uint32_t worker);
  void run_task(const Task& task, Scratch& memory);
  void await_masters(const LaunchSlot& slot, const Task& task, TaskTimes::Worker* clock);
  void await_tasks(uint32_t master_slot, uint32_t first_block, uint32_t last_block,
                   TaskTimes::Worker* clock);
  void release(const LaunchSlot& slot, const Task& task);
  void note_failure();

  const uint32_t workers;
  std::vector<std::thread> threads;  // of workers 1 and up, started by the first window
  std::vector<Scratch> scratch;

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
  alignas(64) std::atomic<size_t> next_ticket{0};
  alignas(64) std::atomic<bool> failed{false};

  std::mutex mutex;
  bool open = false;    // workers may join; guarded by mutex
  uint32_t joined = 0;  // guarded by mutex
  std::atomic<uint32_t> left{0};
  std::atomic<uint64_t> opened_epoch{0};
  std::atomic<bool> stopping{false};
  // Flags and counters, several of them to a place, so that who sleeps is woken by few others.
  static constexpr size_t parking_places = 64;
  std::array<Parking, parking_places> flag_changed;
  std::array<Parking, parking_places> counter_changed;
  Parking window_changed;  // opened_epoch, stopping, left
};

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
    {
      const std::lock_guard lock(mutex);
      if (!open) continue;
      ++joined;
    }
    work(worker);
    left.fetch_add(1);
    window_changed.notify();
  }
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
  next_ticket.store(0);
  left.store(0);
}

// A worker takes its next ticket when it is free and not, as on a GPU, while it still runs the
// task before: here the atomic add costs nothing beside a task, while a ticket held by a worker
// that is busy could be the last one that another worker is free for.
void HostExecutor::State::work(uint32_t worker) {
  const size_t count = window->tasks.size();
  TaskTimes::Worker* const clock = times == nullptr ? nullptr : &times->workers[worker];
  for (;;) {
    const size_t ticket = next_ticket.fetch_add(1, std::memory_order_relaxed);
    if (ticket >= count) return;
    const Task& task = window->tasks[ticket];
    const LaunchSlot& slot = window->slots[task.slot];
    try {
      if (clock != nullptr) clock->take(static_cast<uint32_t>(ticket));
      await_masters(slot, task, clock);
      if (clock != nullptr) clock->begin();
      run_task(task, scratch[worker]);
      if (clock != nullptr) clock->end();
    } catch (...) {
      note_failure();
    }
    // Also after a failure: everyone who waits for this task must get on and leave the window.
    release(slot, task);
  }
}

void HostExecutor::State::run_task(const Task& task, Scratch& memory) {
  if (failed.load(std::memory_order_relaxed)) return;
  const LaunchSlot& slot = window->slots[task.slot];
  void* scratch_memory = memory.reserve(scratch_bytes);
  if (slot.runner != nullptr) {
    slot.runner->run(slot.code, *slot.launch, task.first_block, task.block_count, scratch_memory);
  } else {
    slot.code.function(slot.launch, task.first_block, task.block_count, scratch_memory);
  }
}

void HostExecutor::State::await_masters(const LaunchSlot& slot, const Task& task,
                                        TaskTimes::Worker* clock) {
  for (uint32_t i = 0; i < slot.dependence_count; ++i) {
    const SlotDependence& dependence = window->dependences[slot.first_dependence + i];
    const bool whole = is_whole_launch(*dependence.edges);
    TaskCounter& counter = counters[dependence.master_slot];
    dro::for_each_master_range(*dependence.edges, task.first_block, task.block_count,
                               [&](uint32_t first, uint32_t last) {
                                 if (!whole) {
                                   await_tasks(dependence.master_slot, first, last, clock);
                                   return;
                                 }
                                 if (counter.complete()) return;
                                 counter_changed[dependence.master_slot % parking_places].wait(
                                     [&] { return counter.complete(); });
                                 if (clock != nullptr) {
                                   clock->delay(dependence.master_slot, TaskTimes::whole_launch);
                                 }
                               });
  }
}

void HostExecutor::State::await_tasks(uint32_t master_slot, uint32_t first_block,
                                      uint32_t last_block, TaskTimes::Worker* clock) {
  const LaunchSlot& master = window->slots[master_slot];
  const uint32_t first = master.first_flag + first_block / master.blocks_per_task;
  const uint32_t last = master.first_flag + last_block / master.blocks_per_task;
  for (uint32_t flag = first; flag <= last; ++flag) {
    if (flags.is_set(flag, epoch)) continue;
    flag_changed[flag % parking_places].wait([&] { return flags.is_set(flag, epoch); });
    if (clock != nullptr) clock->delay(master_slot, flag - master.first_flag);
  }
}

void HostExecutor::State::release(const LaunchSlot& slot, const Task& task) {
  const uint32_t flag = slot.first_flag + task.first_block / slot.blocks_per_task;
  flags.set(flag, epoch);
  flag_changed[flag % parking_places].notify();
  TaskCounter& counter = counters[task.slot];
  if (counter.counting && counter.finished.fetch_add(1) + 1 == counter.total) {
    counter_changed[task.slot % parking_places].notify();
  }
}

void HostExecutor::State::note_failure() {
  const std::lock_guard lock(mutex);
  if (!failure) failure = std::current_exception();
  failed.store(true);
}

HostExecutor::HostExecutor(const Config& config)
    : state_(
          std::make_unique<State>(config.workers != 0 ? config.workers : available_processors())) {}

HostExecutor::~HostExecutor() {
  state_->stop_threads();
}

uint32_t HostExecutor::workers() const {
  return state_->workers;
}

void HostExecutor::run(const Window& window, TaskTimes* times) {
  State& state = *state_;
  if (window.tasks.empty()) return;
  state.prepare(window);
  state.times = times;
  const bool alone = state.workers == 1 || window.tasks.size() == 1;
  if (!alone) {
    if (state.threads.empty()) state.start_threads();
    {
      const std::lock_guard lock(state.mutex);
      state.open = true;
      state.joined = 0;
    }
    state.opened_epoch.store(state.epoch);
    state.window_changed.notify();
  }
  state.work(0);
  uint32_t joined = 0;
  if (!alone) {
    const std::lock_guard lock(state.mutex);
    state.open = false;
    joined = state.joined;
  }
  // Every ticket was taken by the calling thread or by one that joined, so when all have left
  // every task is done.
  state.window_changed.wait([&] { return state.left.load() == joined; });
  if (state.failure) std::rethrow_exception(state.failure);
}

}  // namespace sluice::megakernel
