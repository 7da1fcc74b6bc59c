#include "schedule/planner.hpp"

#include <algorithm>
#include <bit>

#include "base/number/divide_up.hpp"
#include "schedule/buffer_set.hpp"
#include "schedule/order.hpp"
#include "schedule/small_launches.hpp"
#include "schedule/strips/strip_order.hpp"
#include "schedule/tiles/sweep_begins.hpp"
#include "schedule/tiles/time_tiles.hpp"

namespace sluice::schedule {
namespace {

// The cache is not a tile's alone: other processes, and on a virtual machine other machines, have
// their part, and half full it holds little less.
constexpr uint64_t part_of_cache = 4;
// A larger last level is that of dozens of processors. It is far from each of them, little faster
// than memory, and a virtual machine has no such part of it.
constexpr uint64_t far_cache_bytes = uint64_t{64} << 20U;
// Where the system does not say how large the last level is.
constexpr uint64_t usual_cache_bytes = uint64_t{8} << 20U;

// Nanoseconds. Tasks between the first two stay as the number of their threads makes them.
constexpr uint64_t shortest_task = 2'000;
constexpr uint64_t longest_task = 24'000;
constexpr uint64_t good_task = 8'000;
// Tasks for each worker: so many are shared out evenly however they are taken, and with so many it
// ends with the others within a hundredth.
constexpr uint64_t few_tasks = 8;
constexpr uint64_t many_tasks = 64;
// And of a launch that memory holds up and that no other is swept with.
constexpr uint64_t lone_tasks = 16;

bool fits(std::span<const Launch> launches, uint64_t cache_bytes) {
  BufferSet buffers;
  for (const Launch& launch : launches) {
    buffers.add(launch.touched);
    if (buffers.bytes() > cache_bytes) return false;
  }
  return true;
}

// computes() holds where blocks touch so few bytes in the time they take that a cache brings them
// nothing which memory could not. A device's windows are its plainest until their blocks have been
// measured.
bool computes(std::span<const Launch> launches, const Machine& machine) {
  uint64_t bytes = 0;
  uint64_t nanoseconds = 0;
  for (const Launch& launch : launches) {
    if (launch.block_nanoseconds == 0) return machine.least_nanoseconds != 0;
    nanoseconds += launch.grid.count() * launch.block_nanoseconds;
    for (const TouchedBuffer& buffer : launch.touched)
      bytes += buffer.bytes;
  }
  return static_cast<double>(bytes) * machine.idle_memory < static_cast<double>(nanoseconds);
}

// wanted_blocks() is blocks_per_task() before it looks at how many tasks that makes. Powers of two,
// so that measurements which hardly differ give the same tasks.
uint64_t wanted_blocks(const Launch& launch, const Machine& machine) {
  const uint64_t usual =
      divide_up(machine.task_threads, std::max<uint64_t>(1, launch.block.count()));
  const uint64_t block = launch.block_nanoseconds;
  if (block != 0 && machine.least_nanoseconds != 0) {
    return std::bit_ceil(divide_up(machine.least_nanoseconds, block));
  }
  if (block != 0 && usual * block > longest_task) {
    const uint64_t many = divide_up(launch.grid.count(), machine.workers * many_tasks);
    return std::clamp(many, std::min(std::bit_ceil(divide_up(good_task, block)), usual), usual);
  }
  const bool is_short = block != 0 && usual * block < shortest_task;
  return is_short ? std::bit_ceil(divide_up(shortest_task, block)) : usual;
}

// whole_rows() is about so many blocks: whole rows of them, or whole parts of a row.
uint32_t whole_rows(const Launch& launch, uint64_t blocks) {
  const uint32_t row = launch.grid.x;
  return static_cast<uint32_t>(blocks >= row ? blocks / row * row
                                             : divide_up(row, divide_up(row, blocks)));
}

// cuts_of_tiles() has launches that no other is swept with, and that memory holds up, make few
// tasks: what neighbouring blocks share, a worker then finds in its own cache.
std::vector<TaskCut> cuts_of_tiles(const Plan& plan, std::span<const Launch> launches,
                                   const Machine& machine) {
  std::vector<TaskCut> cuts;
  for (const TimeTile& tile : plan.tiles) {
    for (uint32_t launch = tile.first; launch < tile.end; ++launch)
      cuts.push_back(plan.launches[launch].cut);
    if (!machine.on_host || machine.cache_bytes == 0 || tile.end - tile.first > 1) continue;
    const uint64_t blocks =
        divide_up(plan.launches[tile.first].block_count, lone_tasks * machine.workers);
    if (blocks > cuts.back().blocks_per_task)
      cuts.back() = whole_rows(launches[tile.first], blocks);
  }
  return cuts;
}

// strips_of() is what find_strips() finds where the machine may have any.
std::optional<Strips> strips_of(const Plan& plan, std::span<const Launch> launches,
                                const Machine& machine) {
  if (!machine.on_host || machine.cache_bytes == 0) return std::nullopt;
  return find_strips(plan, launches, machine);
}

}  // namespace

uint32_t blocks_per_task(const Launch& launch, const Machine& machine) {
  const uint64_t blocks = launch.grid.count();
  const uint64_t block = launch.block_nanoseconds;
  if (machine.on_host && block != 0 && blocks * block < shortest_task)
    return static_cast<uint32_t>(blocks);
  uint64_t tasks = divide_up(blocks, wanted_blocks(launch, machine));
  if (tasks < machine.workers * few_tasks) {
    if (machine.on_host && launch.block_nanoseconds == 0) tasks = machine.workers * few_tasks;
    tasks = std::min(blocks, divide_up(tasks, machine.workers) * machine.workers);
  }
  return whole_rows(launch, divide_up(blocks, tasks));
}

uint64_t tile_cache_bytes(uint64_t last_level, uint64_t own_caches) {
  if (last_level > far_cache_bytes && own_caches != 0) return own_caches;
  return (last_level != 0 ? last_level : usual_cache_bytes) / part_of_cache;
}

void Planner::cut_again(Plan& plan, std::span<const TaskCut> cuts) {
  if (std::ranges::equal(cuts, plan.launches, {}, {}, &LaunchTasks::cut)) return;
  plan.flag_count = 0;
  for (size_t launch = 0; launch < cuts.size(); ++launch) {
    LaunchTasks& tasks = plan.launches[launch];
    tasks.cut = cuts[launch];
    tasks.first_flag = plan.flag_count;
    plan.flag_count += task_count(tasks);
    for (uint32_t i = 0; i < tasks.dependence_count; ++i) {
      Dependence& dependence = plan.dependences[tasks.first_dependence + i];
      dependence.task_edges =
          &edges_.find(*dependence.edges, plan.launches[dependence.master].cut, tasks.cut);
    }
  }
}

Plan Planner::cut(std::span<const Launch> launches) {
  Plan plan;
  plan.launches.reserve(launches.size());
  for (const Launch& launch : launches) {
    const LaunchTasks tasks{.block_count = static_cast<uint32_t>(launch.grid.count()),
                            .cut = blocks_per_task(launch, machine_),
                            .first_flag = plan.flag_count,
                            .first_dependence = static_cast<uint32_t>(plan.dependences.size()),
                            .dependence_count = static_cast<uint32_t>(launch.dependences.size())};
    plan.launches.push_back(tasks);
    plan.flag_count += task_count(tasks);
    for (Dependence dependence : launch.dependences) {
      const TaskCut& of_master = plan.launches[dependence.master].cut;
      dependence.task_edges = &edges_.find(*dependence.edges, of_master, tasks.cut);
      plan.dependences.push_back(dependence);
    }
  }
  plan.task_edges = edges_.holder();
  return plan;
}

void Planner::fit(uint32_t workers, uint64_t cache_bytes, uint64_t memory_bytes) {
  const std::lock_guard lock(mutex_);
  machine_.workers = workers;
  machine_.cache_bytes = tile_cache_bytes(cache_bytes, 0);
  machine_.shared_cache_bytes = cache_bytes;
  if (memory_bytes != 0)
    machine_.idle_memory = 1000.0 * workers / (busy_memory * static_cast<double>(memory_bytes));
}

Planner::Share Planner::share_of(const Launch& launch) {
  const std::lock_guard lock(mutex_);
  const uint64_t blocks = launch.grid.count();
  return {divide_up(blocks, uint64_t{blocks_per_task(launch, machine_)}),
          blocks * launch.block_nanoseconds / machine_.workers};
}

Planner::Count Planner::count() {
  const std::lock_guard lock(mutex_);
  return count_;
}

Plan Planner::plan(std::span<const Launch> launches) {
  const std::lock_guard lock(mutex_);
  const std::shared_ptr<const void> before = edges_.holder();
  edges_.trim();
  if (edges_.holder() != before) known_.forget();  // which hold what was trimmed
  Plan plan = cut(launches);
  if (machine_.stress != 0) {
    order_randomly(plan, machine_.stress++);
    return plan;
  }
  const bool are_computing = computes(launches, machine_);
  if (const Plan* known = known_.find(launches, plan, machine_, are_computing)) {
    ++count_.again;
    return *known;
  }
  ++count_.ordered;
  order(plan, launches, are_computing);
  known_.keep(plan);
  return plan;
}

void Planner::order(Plan& plan, std::span<const Launch> launches, bool computes) {
  if (machine_.own_cache_bytes != 0 && fits(launches, machine_.own_cache_bytes))
    return order_by_worker(plan, machine_.workers);
  Machine machine = machine_;
  // Launches that are swept together then only take the caches from each other.
  if (computes || fits(launches, machine_.shared_cache_bytes)) machine.cache_bytes = 0;
  const std::vector<uint32_t> order = small_first(plan);
  std::vector<Launch> ordered;
  ordered.reserve(order.size());
  for (const uint32_t launch : order)
    ordered.push_back(launches[launch]);
  put_in_order(plan, order);
  if (!machine.in_runs && machine.cache_bytes != 0) find_begins(plan);
  plan.tiles = find_time_tiles(plan, ordered, machine);
  if (machine.in_runs) {
    run_by_tiles(plan);
  } else if (const auto strips = strips_of(plan, ordered, machine)) {
    cut_again(plan, strips->cuts);
    order_by_strips(plan, *strips, machine.workers);
  } else {
    cut_again(plan, cuts_of_tiles(plan, ordered, machine));
    order_by_tiles(plan);
  }
  put_back(plan, order);
}

}  // namespace sluice::schedule
