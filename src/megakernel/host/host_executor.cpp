#include "megakernel/host/host_executor.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <exception>
#include <mutex>
#include <system_error>
#include <thread>
#include <vector>

#include <pthread.h>

#include "base/assert.hpp"
#include "base/processors.hpp"
#include "megakernel/block_cost.hpp"
#include "megakernel/host/crew.hpp"
#include "megakernel/host/flags.hpp"
#include "megakernel/host/lanes.hpp"
#include "megakernel/host/parking.hpp"
#include "megakernel/host/scratch.hpp"
#include "megakernel/host/task_times.hpp"
#include "megakernel/host/thread_clock.hpp"
#include "megakernel/host/worker_speeds.hpp"
#include "megakernel/signals_blocked.hpp"
#include "megakernel/validate.hpp"

namespace sluice::megakernel {
namespace {

using Clock = std::chrono::steady_clock;

// How long a worker waits for a task before it runs what another worker should have run: that takes
// the task's data away from the cache that has it.
constexpr std::chrono::microseconds patience{20};
constexpr std::chrono::microseconds no_patience{0};
// A sleep that short is no loss of a processor.
constexpr std::chrono::microseconds short_sleep{300};

}  // namespace

struct HostExecutor::State {
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

  void prepare(const Window& window);
  // Ticket is a task that a worker has taken.
  struct Ticket {
    uint32_t number = 0;
    uint32_t worker = 0;
    TaskTimes::Worker* clock = nullptr;
  };
  void work(uint32_t worker);
  void run_ticket(const Ticket& ticket);
  void run_task(const Task& task, const Ticket& ticket);
  void await_masters(const LaunchSlot& slot, const Task& task, const Ticket& ticket);
  void await_tasks(uint32_t master_slot, uint32_t first_block, uint32_t last_block,
                   const Ticket& ticket);
  template <class Ready>
  void await(Parking& place, const Ticket& ticket, Ready ready);
  void release(const LaunchSlot& slot, const Task& task);
  void note_sleep(std::chrono::nanoseconds time);
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
  Crew crew;                       // told by workers under mutex, asked between windows
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

// A worker takes its next ticket when it is free and not, as on a GPU, while it still runs the
// task before: here the atomic add costs nothing beside a task, while a ticket held by a worker
// that is busy could be the last one that another worker is free for.
void HostExecutor::State::work(uint32_t worker) {
  Ticket ticket{0, worker, times == nullptr ? nullptr : &times->workers[worker]};
  for (;;) {
    const bool goes_on_alone = alone.load(std::memory_order_relaxed);
    if (goes_on_alone && worker != 0) return;
    ticket.number = goes_on_alone ? lanes.take_first() : lanes.take(worker);
    if (ticket.number == Lanes::no_ticket) return;
    if (ticket.number >= config.alone_from_ticket) alone.store(true, std::memory_order_relaxed);
    run_ticket(ticket);
  }
}

void HostExecutor::State::run_ticket(const Ticket& ticket) {
  const Task& task = window->tasks[ticket.number];
  const LaunchSlot& slot = window->slots[task.slot];
  try {
    const size_t run = ticket.clock != nullptr ? ticket.clock->take(ticket.number) : 0;
    await_masters(slot, task, ticket);
    if (ticket.clock != nullptr) ticket.clock->begin(run);
    run_task(task, ticket);
    if (ticket.clock != nullptr) ticket.clock->end(run);
  } catch (...) {
    note_failure();
  }
  // Also after a failure: everyone who waits for this task must get on and leave the window.
  release(slot, task);
}

void HostExecutor::State::run_task(const Task& task, const Ticket& ticket) {
  if (failed.load(std::memory_order_relaxed)) return;
  const LaunchSlot& slot = window->slots[task.slot];
  void* memory = scratch[ticket.worker].reserve(scratch_bytes);
  const bool is_measured =
      slot.cost != nullptr && (speeds.wants_next(ticket.worker) || slot.cost->wants_more());
  Clock::time_point start;
  if (is_measured) start = Clock::now();
  if (slot.runner != nullptr) {
    slot.runner->run(slot.code, *slot.launch, task.first_block, task.block_count, memory);
  } else {
    slot.code.function(slot.launch, task.first_block, task.block_count, memory);
  }
  if (!is_measured) return;
  const std::chrono::nanoseconds took = Clock::now() - start;
  slot.cost->note(took, task.block_count);
  speeds.note(ticket.worker, took,
              std::chrono::nanoseconds(uint64_t{slot.cost->nanoseconds()} * task.block_count));
}

void HostExecutor::State::await_masters(const LaunchSlot& slot, const Task& task,
                                        const Ticket& ticket) {
  for (uint32_t i = 0; i < slot.dependence_count; ++i) {
    const SlotDependence& dependence = window->dependences[slot.first_dependence + i];
    const uint32_t master = dependence.master_slot;
    const bool whole = is_whole_launch(*dependence.edges);
    dro::for_each_master_range(
        *dependence.edges, task.first_block, task.block_count, [&](uint32_t first, uint32_t last) {
          if (!whole) return await_tasks(master, first, last, ticket);
          const TaskCounter& counter = counters[master];
          if (counter.complete()) return;
          await(counter_changed[master % parking_places], ticket,
                [&] { return counter.complete(); });
          if (ticket.clock != nullptr) {
            ticket.clock->delay(ticket.number, master, TaskTimes::whole_launch);
          }
        });
  }
}

void HostExecutor::State::await_tasks(uint32_t master_slot, uint32_t first_block,
                                      uint32_t last_block, const Ticket& ticket) {
  const LaunchSlot& master = window->slots[master_slot];
  const uint32_t first = master.first_flag + first_block / master.blocks_per_task;
  const uint32_t last = master.first_flag + last_block / master.blocks_per_task;
  for (uint32_t flag = first; flag <= last; ++flag) {
    if (flags.is_set(flag, epoch)) continue;
    await(flag_changed[flag % parking_places], ticket, [&] { return flags.is_set(flag, epoch); });
    if (ticket.clock != nullptr) {
      ticket.clock->delay(ticket.number, master_slot, flag - master.first_flag);
    }
  }
}

// With lanes, what a task waits for may lie in the lane of a worker that has lost its processor or
// has not come yet. Whoever waits runs it, rather than sleep.
template <class Ready>
void HostExecutor::State::await(Parking& place, const Ticket& ticket, Ready ready) {
  while (!Parking::spin(ready, lanes.is_left(ticket.number) ? no_patience : patience)) {
    Ticket other = ticket;
    other.number = lanes.take_before(ticket.number);
    if (other.number == Lanes::no_ticket) {
      const Clock::time_point start = Clock::now();
      place.wait(ready);
      return note_sleep(Clock::now() - start);
    }
    run_ticket(other);
  }
}

void HostExecutor::State::note_sleep(std::chrono::nanoseconds time) {
  if (time < short_sleep || config.keeps_all_workers || alone.load(std::memory_order_relaxed))
    return;
  const std::lock_guard lock(mutex);
  slept += time;
  Crew::Spent spent{Clock::now() - opened, slept, {}, 0};
  for (const ThreadClock& clock : clocks) {
    if (!clock.is_running()) continue;
    spent.used += clock.used();
    ++spent.workers;
  }
  if (!crew.is_starved(spent) || alone.exchange(true)) return;
  crew.starved();
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
  const bool needs_nobody = state.workers == 1 || window.tasks.size() == 1;
  const bool alone = needs_nobody || state.crew.begin();
  const Clock::time_point start = Clock::now();
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
      state.clocks[0] = ThreadClock::of_this_thread();
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
    if (!state.alone.load(std::memory_order_relaxed)) state.crew.kept(Clock::now() - start);
  } else if (!needs_nobody) {
    state.crew.ended_alone(Clock::now() - start);
  }
  // Every ticket was taken by the calling thread or by one that joined, so when all have left
  // every task is done.
  state.window_changed.wait([&] { return state.left.load() == joined; });
  state.speeds.end_window();
  if (state.failure) std::rethrow_exception(state.failure);
}

}  // namespace sluice::megakernel
