// A plan: tasks in an order in which any executor may run them. Plain data.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "base/dim3.hpp"
#include "schedule/task_cut.hpp"

namespace sluice::dro {
struct EdgeTable;
}

namespace sluice::schedule {

class TaskEdges;  // task_edges.hpp

// TouchedBuffer is a buffer that a launch reads or writes, and how much of it at most.
struct TouchedBuffer {
  uint64_t buffer = 0;  // dro::BufferId
  uint64_t bytes = 0;
};

// Dependence is one of a launch on an earlier one of the same window, by its place there.
struct Dependence {
  uint32_t master = 0;
  const dro::EdgeTable* edges = nullptr;  // outlives the plan
  const TaskEdges* task_edges = nullptr;  // the same by tasks; set and kept by the plan
};

// Launch is what a planner is told of a launch; `block_nanoseconds` is what one of its blocks
// takes, 0 where that was never measured.
struct Launch {
  Dim3 grid;
  Dim3 block;
  uint32_t block_nanoseconds = 0;
  std::span<const Dependence> dependences;
  std::span<const TouchedBuffer> touched;
};

// LaunchTasks says how a launch was cut into tasks.
struct LaunchTasks {
  uint32_t block_count = 0;
  TaskCut cut;
  uint32_t first_flag = 0;        // of its task 0; task i has flag first_flag + i
  uint32_t first_dependence = 0;  // into Plan::dependences
  uint32_t dependence_count = 0;
  // Where its sweep begins among those of the launches that it shares tiles with, and where the
  // last of them ends, in sweeps.
  double begin = 0;
  double extent = 1;
};

inline uint32_t task_count(const LaunchTasks& launch) {
  return launch.cut.tasks(launch.block_count);
}

// Task is a run of neighbouring blocks of one launch. Its place in the order is its ticket.
struct Task {
  uint32_t launch = 0;
  uint32_t first_block = 0;
  uint32_t block_count = 0;
};

// TaskRun is what tasks the `count` tickets from `first_ticket` on are. They go round `launches`
// launches that follow each other: a ticket in place p of round r is task first_task + r - lag * p,
// modulo 2^32, of launch first_launch + p. Or, where there are no launches, the tasks are listed:
// the first is Plan::tasks[first_task].
struct TaskRun {
  uint32_t first_ticket = 0;
  uint32_t count = 0;
  uint32_t launches = 1;
  uint32_t first_launch = 0;
  uint32_t first_task = 0;
  uint32_t lag = 0;
  friend bool operator==(const TaskRun&, const TaskRun&) = default;
};

// TaskRange is a run of neighbouring tasks of one launch, `last` included.
struct TaskRange {
  uint32_t first = 0;
  uint32_t last = 0;
  friend bool operator==(const TaskRange&, const TaskRange&) = default;
};

// TimeTile is a run of launches [first, end) that are swept together; each task keeps `slack` tasks
// of distance from its masters, so that no worker finds a master that another has just taken.
struct TimeTile {
  uint32_t first = 0;
  uint32_t end = 0;
  uint32_t slack = 1;
  uint32_t parts = 1;  // one for each worker, or all of them share one
  bool is_backward = false;
  friend bool operator==(const TimeTile&, const TimeTile&) = default;
};

// begin_of() is where a launch's sweep begins in a tile, in sweeps.
inline double begin_of(const LaunchTasks& launch, const TimeTile& tile) {
  return tile.is_backward ? launch.extent - 1 - launch.begin : launch.begin;
}

// Plan. Its tasks, flag_count of them, are listed, or where there are runs, these say what they
// are. Invariant: they are in a topological order, that is, every task that a task waits for stands
// before it.
struct Plan {
  std::vector<LaunchTasks> launches;
  std::vector<Dependence> dependences;
  std::vector<Task> tasks;
  std::vector<TaskRun> runs;  // in the order of tickets; for executors that ask for them
  uint32_t flag_count = 0;
  // Worker queues say which worker should run what, so that it finds in its own cache what it left
  // there: the tickets of worker i are queue_tickets[queue_ends[i - 1]] .. [queue_ends[i] - 1], in
  // rising order, and each ticket is in one queue. Without queues all workers share the tickets.
  std::vector<uint32_t> queue_tickets;
  std::vector<uint32_t> queue_ends;
  std::vector<TimeTile> tiles;             // by which the order was made; for those who look at it
  std::shared_ptr<const void> task_edges;  // what the dependences point to

  std::span<const Dependence> dependences_of(const LaunchTasks& launch) const {
    return std::span(dependences).subspan(launch.first_dependence, launch.dependence_count);
  }
};

// add_queue() gives the next worker a queue of its own; tickets rise.
inline void add_queue(Plan& plan, std::span<const uint32_t> tickets) {
  plan.queue_tickets.insert(plan.queue_tickets.end(), tickets.begin(), tickets.end());
  plan.queue_ends.push_back(static_cast<uint32_t>(plan.queue_tickets.size()));
}

// for_each_share() calls visit(worker, task) for the tasks of a launch in their order, of which
// each worker gets an equal part.
template <class Visit>
void for_each_share(uint64_t tasks, uint32_t workers, Visit&& visit) {
  uint32_t task = 0;
  for (uint32_t worker = 0; worker < workers; ++worker) {
    for (; task < tasks * (worker + 1) / workers; ++task)
      visit(worker, task);
  }
}

}  // namespace sluice::schedule
