// From the launches of a window to the tables that workers read.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

#include "megakernel/layout.hpp"
#include "runtime/order.hpp"
#include "runtime/task_needs.hpp"
#include "runtime/window.hpp"

namespace sluice::runtime {

// PlannedWindow owns a closed window and its tables, which are empty until it is planned.
struct PlannedWindow {
  LaunchWindow held;
  std::vector<SluiceBlockLaunch> launches;
  megakernel::Window tables;
  std::shared_ptr<const void> task_edges;  // what the tables' dependences point to
  std::vector<Band> bands;
};

// Planner plans windows for one machine. It remembers what it read from edge tables, which must
// outlive it. Thread-safe: of several windows one is planned at a time.
class Planner {
 public:
  explicit Planner(const OrderLimits& limits) : limits_(limits) {}

  // plan() cuts the launches of a closed window into tasks and orders them, by what blocks cost as
  // far as that is known by now. `speeds`, one for each worker, say how fast these are beside each
  // other; empty: all alike. Throws std::bad_alloc; such a window cannot be planned again.
  void plan(PlannedWindow& window, std::vector<double> speeds = {});

 private:
  bool wants_lanes(const LaunchWindow& held) const;
  void find_task_edges(megakernel::Window& tables);

  std::mutex mutex_;  // guards what follows
  OrderLimits limits_;
  TaskNeedsCache needs_;
};

// blocks_per_task() is how many neighbouring blocks make a task that is worth its ticket and still
// lets workers end together: limits.task_threads threads, unless blocks were measured
// (`block_nanoseconds` is not 0) and such a task takes less than 2 or more than 24 microseconds:
// then about 8, but no more tasks than workers need to end together. Fewer blocks where a worker
// would get no task, or only one while blocks are still to be measured; whole rows of blocks, or
// whole parts of a row.
uint32_t blocks_per_task(const Dim3& grid, const Dim3& block, const OrderLimits& limits,
                         uint32_t block_nanoseconds = 0);

// band_cache_bytes() is how many bytes a band may fill: a part of a last-level cache of so many
// bytes (0: unknown), or, where that is large and far, the workers' own caches, of so many bytes
// together.
uint64_t band_cache_bytes(uint64_t last_level, uint64_t own_caches);

}  // namespace sluice::runtime
