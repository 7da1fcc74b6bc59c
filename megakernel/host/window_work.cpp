#include "megakernel/host/window_work.hpp"

#include <algorithm>
#include <chrono>
#include <utility>

#include "schedule/task_edges.hpp"

namespace sluice::megakernel {
namespace {

using Clock = std::chrono::steady_clock;

// How long a worker waits for a task before it runs what another worker should have run: that takes
// the task's data away from the cache that has it.
constexpr std::chrono::microseconds patience{20};
constexpr std::chrono::microseconds no_patience{0};

// One in so many tasks of a worker, whatever tickets they have: reading the clock twice costs about
// as much as a small task's ticket.
constexpr uint32_t measured_tasks = 16;

// Nanoseconds of all its blocks: a tenth of the shortest time slices.
constexpr uint64_t short_launch = 500'000;

uint32_t flag_of(const schedule::LaunchTasks& launch, const schedule::Task& task) {
  return launch.first_flag + launch.cut.task_of(task.first_block);
}

}  // namespace

WindowWork::WindowWork(uint32_t workers, Starvation* starvation)
    : workers_(workers), starvation_(starvation), each_(std::make_unique<Worker[]>(workers)) {}

void WindowWork::open(const Window& window, TaskTimes* times) {
  window_ = &window;
  times_ = times;
  signals_.open(window.plan);
  milestones_.open(window);
  queues_.open(window.plan, workers_);
  scratch_bytes_ = 0;
  for (const LaunchCode& launch : window.code)
    scratch_bytes_ = std::max(scratch_bytes_, launch.code.scratch_bytes);
  failure_ = nullptr;
  failed_.store(false);
}

// A worker takes its next ticket when it is free and not, as on a GPU, while it still runs the
// task before: here the atomic add costs nothing beside a task, while a ticket held by a worker
// that is busy could be the last one that another worker is free for.
bool WindowWork::run(uint32_t worker, bool alone) {
  Ticket ticket{0, worker, times_ == nullptr ? nullptr : &times_->workers[worker]};
  // Reading a thread's processor time lets the kernel see that its time slice is over, which else
  // it sees at its next tick, up to 4 ms later: who is alone under contention doesn't.
  if (starvation_ != nullptr && !alone) each_[worker].lost.begin(LostTime::now());
  for (;;) {
    if (starvation_ != nullptr && (alone ? !goes_alone() : starvation_->is_alone())) return false;
    ticket.number = alone ? queues_.take_first() : queues_.take(worker);
    if (ticket.number == WorkerQueues::no_ticket) return true;
    run_ticket(ticket);
  }
}

bool WindowWork::goes_alone() const {
  return starvation_ != nullptr && starvation_->goes_alone([this] { return has_short_launches(); });
}

bool WindowWork::has_short_launches() const {
  uint32_t launch = 0;
  return !window_->plan.queue_ends.empty() &&
         std::ranges::all_of(window_->code, [&](const LaunchCode& code) {
           const uint64_t block = code.cost == nullptr ? 0 : code.cost->nanoseconds();
           return block != 0 && block * window_->plan.launches[launch++].block_count < short_launch;
         });
}

// Without other workers nobody waits for a task or tells of one: masters have smaller tickets than
// their slaves.
void WindowWork::run_alone() {
  Ticket ticket{0, 0, times_ == nullptr ? nullptr : times_->workers.data()};
  for (; ticket.number < window_->plan.tasks.size() && !failed_.load(std::memory_order_relaxed);
       ++ticket.number) {
    run_when(ticket, [] {});
  }
}

void WindowWork::close() {
  milestones_.close();
  if (failure_) std::rethrow_exception(failure_);
}

void WindowWork::run_ticket(const Ticket& ticket) {
  const schedule::Task& task = window_->plan.tasks[ticket.number];
  run_when(ticket, [&] { await_masters(task, ticket); });
  // Also after a failure: everyone who waits for this task must get on and leave the window.
  const bool kept_others =
      signals_.done(task.launch, flag_of(window_->plan.launches[task.launch], task));
  if (kept_others && starvation_ != nullptr)
    starvation_->lost(each_[ticket.worker].lost.take(LostTime::now()));
}

template <class AwaitReady>
void WindowWork::run_when(const Ticket& ticket, AwaitReady await_ready) {
  try {
    const size_t run = ticket.clock != nullptr ? ticket.clock->take(ticket.number) : 0;
    await_ready();
    if (ticket.clock != nullptr) ticket.clock->begin(run);
    run_blocks(window_->plan.tasks[ticket.number], each_[ticket.worker]);
    if (ticket.clock != nullptr) ticket.clock->end(run);
  } catch (...) {
    note_failure();
  }
  milestones_.done(window_->plan.tasks[ticket.number].launch);
}

void WindowWork::run_blocks(const schedule::Task& task, Worker& worker) {
  if (failed_.load(std::memory_order_relaxed)) return;
  const LaunchCode& launch = window_->code[task.launch];
  void* memory = worker.scratch.reserve(scratch_bytes_);
  const bool is_measured =
      launch.cost != nullptr && (worker.tasks++ % measured_tasks == 0 || launch.cost->wants_more());
  Clock::time_point start;
  if (is_measured) start = Clock::now();
  if (launch.runner != nullptr) {
    launch.runner->run(launch.code, *launch.launch, task.first_block, task.block_count, memory);
  } else {
    launch.code.function(launch.launch, task.first_block, task.block_count, memory);
  }
  if (is_measured) launch.cost->note(Clock::now() - start, task.block_count);
}

void WindowWork::await_masters(const schedule::Task& task, const Ticket& ticket) {
  const schedule::LaunchTasks& launch = window_->plan.launches[task.launch];
  const uint32_t number = launch.cut.task_of(task.first_block);
  for (const schedule::Dependence& dependence : window_->plan.dependences_of(launch)) {
    const schedule::TaskEdges& edges = *dependence.task_edges;
    for (const schedule::TaskRange& masters : edges.masters(number)) {
      if (edges.waits_for_launch()) {
        await_launch(dependence.master, ticket);
        continue;
      }
      for (uint32_t master = masters.first; master <= masters.last; ++master)
        await_task(dependence.master, master, ticket);
    }
  }
}

void WindowWork::await_launch(uint32_t launch, const Ticket& ticket) {
  const auto is_done = [&] { return signals_.is_launch_done(launch); };
  if (is_done()) return;
  await(signals_.launch_place(launch), ticket, is_done);
  if (ticket.clock != nullptr) ticket.clock->delay(ticket.number, launch, TaskTimes::whole_launch);
}

void WindowWork::await_task(uint32_t launch, uint32_t task, const Ticket& ticket) {
  const uint32_t flag = window_->plan.launches[launch].first_flag + task;
  const auto is_done = [&] { return signals_.is_done(flag); };
  if (is_done()) return;
  await(signals_.place(flag), ticket, is_done);
  if (ticket.clock != nullptr) ticket.clock->delay(ticket.number, launch, task);
}

// With worker queues, what a task waits for may lie in the queue of a worker that has lost its
// processor or has not come yet. Whoever waits runs it, rather than sleep.
template <class Ready>
void WindowWork::await(Parking& place, const Ticket& ticket, Ready ready) {
  while (!Parking::spin(ready, queues_.is_left(ticket.number) ? no_patience : patience)) {
    Ticket other = ticket;
    other.number = queues_.take_before(ticket.number);
    if (other.number == WorkerQueues::no_ticket) {
      const Clock::time_point start = Clock::now();
      place.wait(ready);
      return each_[ticket.worker].lost.sleep(Clock::now() - start);
    }
    run_ticket(other);
  }
}

void WindowWork::note_failure() {
  const std::lock_guard lock(mutex_);
  if (!failure_) failure_ = std::current_exception();
  failed_.store(true);
}

}  // namespace sluice::megakernel
