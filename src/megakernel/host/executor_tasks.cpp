// How a worker gets through the tasks of a window.
#include <optional>
#include <utility>

#include "megakernel/block_cost.hpp"
#include "megakernel/host/crowd.hpp"
#include "megakernel/host/executor_state.hpp"

namespace sluice::megakernel {
namespace {

// How long a worker waits for a task before it runs what another worker should have run: that takes
// the task's data away from the cache that has it.
constexpr std::chrono::microseconds patience{20};
constexpr std::chrono::microseconds no_patience{0};
// A sleep that short is no loss of a processor.
constexpr std::chrono::microseconds short_sleep{300};

}  // namespace

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
    if (worker == 0 && holds_back) stop_holding_back();
  }
}

// Without other workers nobody waits for a task or tells of one: masters have smaller tickets than
// their slaves.
void HostExecutor::State::work_alone() {
  Ticket ticket{0, 0, times == nullptr ? nullptr : &times->workers[0]};
  for (; ticket.number < window->tasks.size() && !failed.load(std::memory_order_relaxed);
       ++ticket.number) {
    run_when(ticket, [] {});
  }
}

void HostExecutor::State::run_ticket(const Ticket& ticket) {
  const Task& task = window->tasks[ticket.number];
  const LaunchSlot& slot = window->slots[task.slot];
  run_when(ticket, [&] { await_masters(slot, task, ticket); });
  // Also after a failure: everyone who waits for this task must get on and leave the window.
  release(slot, task);
}

template <class AwaitReady>
void HostExecutor::State::run_when(const Ticket& ticket, AwaitReady await_ready) {
  try {
    const size_t run = ticket.clock != nullptr ? ticket.clock->take(ticket.number) : 0;
    await_ready();
    if (ticket.clock != nullptr) ticket.clock->begin(run);
    run_task(window->tasks[ticket.number], ticket);
    if (ticket.clock != nullptr) ticket.clock->end(run);
  } catch (...) {
    note_failure();
  }
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
  const uint32_t number = task.first_block / slot.blocks_per_task;
  for (uint32_t i = 0; i < slot.dependence_count; ++i) {
    const SlotDependence& dependence = window->dependences[slot.first_dependence + i];
    const uint32_t master = dependence.master_slot;
    for (const TaskRange& masters : dependence.task_edges->masters(number)) {
      if (dependence.task_edges->waits_for_launch()) {
        await_launch(master, ticket);
      } else {
        await_tasks(master, masters, ticket);
      }
    }
  }
}

void HostExecutor::State::await_launch(uint32_t master_slot, const Ticket& ticket) {
  const TaskCounter& counter = counters[master_slot];
  if (counter.complete()) return;
  await(counter_changed[master_slot % parking_places], ticket, [&] { return counter.complete(); });
  if (ticket.clock != nullptr) {
    ticket.clock->delay(ticket.number, master_slot, TaskTimes::whole_launch);
  }
}

void HostExecutor::State::await_tasks(uint32_t master_slot, const TaskRange& tasks,
                                      const Ticket& ticket) {
  const uint32_t first_flag = window->slots[master_slot].first_flag;
  for (uint32_t master = tasks.first; master <= tasks.last; ++master) {
    const uint32_t flag = first_flag + master;
    if (flags.is_set(flag, epoch)) continue;
    await(flag_changed[flag % parking_places], ticket, [&] { return flags.is_set(flag, epoch); });
    if (ticket.clock != nullptr) ticket.clock->delay(ticket.number, master_slot, master);
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

// Where others want the processors, that is known before the first time slice is lost.
void HostExecutor::State::expect_crowd() {
  if (has_asked_for_crowd || config.keeps_all_workers || !has_short_launches(*window)) return;
  has_asked_for_crowd = true;
  const std::optional<ProcessorShare> share = share_of_main_thread();
  const auto awake = static_cast<uint32_t>(1 + threads.size() - window_changed.sleepers());
  if ((share && share->is_crowded()) || config.others_want_processors(awake)) crew.starved();
}

// What the first launches take is not known before they have run, and threads that are started in a
// crowd take the processor from who makes launches.
bool HostExecutor::State::may_be_crowded() {
  if (!threads.empty() || config.keeps_all_workers || window->lane_ends.empty()) return false;
  return !is_measured(*window) && config.others_want_processors(1);
}

void HostExecutor::State::note_failure() {
  const std::lock_guard lock(mutex);
  if (!failure) failure = std::current_exception();
  failed.store(true);
}

}  // namespace sluice::megakernel
