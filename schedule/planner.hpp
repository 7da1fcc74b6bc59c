// From the launches of a window to its plan.
#pragma once

#include <cstdint>
#include <mutex>
#include <span>

#include "schedule/known_plans.hpp"
#include "schedule/machine.hpp"
#include "schedule/plan.hpp"
#include "schedule/task_edges.hpp"

namespace sluice::schedule {

// Planner plans windows for one machine. It remembers what it read from edge tables, which must
// outlive it, and the plans of windows that have come twice. Thread-safe: of several windows one is
// planned at a time.
class Planner {
 public:
  explicit Planner(const Machine& machine) : machine_(machine) {}

  // plan() cuts launches, given in program order, into tasks and orders these: by time tiles or
  // strips, or, where all that the launches touch fits the workers' own caches, by worker. Throws
  // std::bad_alloc.
  Plan plan(std::span<const Launch> launches);

  // fit() says for how many workers the windows to come are planned, how large the cache is that
  // they share, and how many bytes memory brings in a microsecond (0: unknown): of a device, that
  // is known only once it has a context and code.
  void fit(uint32_t workers, uint64_t cache_bytes, uint64_t memory_bytes = 0);

  // Share is what a launch brings into a window: how many tasks, and nanoseconds that all workers
  // together are busy with it; 0 where its blocks were never measured.
  struct Share {
    uint64_t tasks = 0;
    uint64_t nanoseconds = 0;
  };
  // Count is how many windows were ordered, and how many had come before.
  struct Count {
    uint64_t ordered = 0;
    uint64_t again = 0;
  };
  Count count();

  // share_of() leaves out how launches depend on each other.
  Share share_of(const Launch& launch);

 private:
  Plan cut(std::span<const Launch> launches);
  void cut_again(Plan& plan, std::span<const TaskCut> cuts);
  void order(Plan& plan, std::span<const Launch> launches, bool computes);

  std::mutex mutex_;  // guards what follows
  Machine machine_;
  TaskEdgesCache edges_;
  KnownPlans known_;
  Count count_;
};

// blocks_per_task() is how many neighbouring blocks of a launch make a task that is worth its
// ticket and still lets workers end together: machine.task_threads threads, unless blocks were
// measured: then for machine.least_nanoseconds, or where there is no such bound for 2 microseconds
// at least, and where the task takes more than 24 for about 8, but no more tasks than workers need
// to end together. A launch of less than 2 is one task on the host. Fewer blocks where a worker
// would get no task, or only one while blocks are still to be measured; whole rows of blocks, or
// whole parts of a row.
uint32_t blocks_per_task(const Launch& launch, const Machine& machine);

// tile_cache_bytes() is how many bytes a time tile may fill: a part of a last-level cache of so
// many bytes (0: unknown), or, where that is large and far, the workers' own caches, of so many
// bytes together.
uint64_t tile_cache_bytes(uint64_t last_level, uint64_t own_caches);

}  // namespace sluice::schedule
