#include "runtime/plan.hpp"

#include <algorithm>
#include <bit>
#include <utility>

#include "base/divide_up.hpp"
#include "megakernel/block_cost.hpp"

namespace sluice::runtime {
namespace {

// The cache is not a band's alone: other processes, and on a virtual machine other machines, have
// their part, and half full it holds little less.
constexpr uint64_t part_of_cache = 4;
// A larger last level is that of dozens of processors. It is far from each of them, little faster
// than memory, and a virtual machine has no such part of it.
constexpr uint64_t far_cache_bytes = uint64_t{64} << 20U;
// Where the system does not say how large the last level is.
constexpr uint64_t usual_cache_bytes = uint64_t{8} << 20U;

// Tasks of these lengths stay as the number of their threads makes them.
constexpr uint64_t shortest_task_nanoseconds = 2'000;
constexpr uint64_t longest_task_nanoseconds = 24'000;
constexpr uint64_t good_task_nanoseconds = 8'000;
constexpr uint64_t few_tasks = 8;     // for each worker
constexpr uint64_t many_tasks = 64;   // for each worker: it ends with the others within a hundredth
constexpr uint64_t idle_memory = 2;   // nanoseconds of a worker for each byte
constexpr size_t most_distinct = 16;  // buffers that are looked through for each window

uint64_t distinct_bytes(std::span<const TouchedBuffer> touched) {
  std::vector<dro::BufferId> seen;
  uint64_t bytes = 0;
  for (const TouchedBuffer& buffer : touched) {
    if (std::find(seen.begin(), seen.end(), buffer.buffer) != seen.end()) continue;
    if (seen.size() == most_distinct) return UINT64_MAX;
    seen.push_back(buffer.buffer);
    bytes += buffer.bytes;
  }
  return bytes;
}

// computes() holds where blocks touch so few bytes in the time they take that a cache brings them
// nothing which memory could not.
bool computes(std::span<const HeldLaunch> launches, std::span<const TouchedBuffer> touched) {
  uint64_t bytes = 0;
  for (const TouchedBuffer& buffer : touched)
    bytes += buffer.bytes;
  uint64_t nanoseconds = 0;
  for (const HeldLaunch& launch : launches) {
    if (launch.cost == nullptr || launch.cost->nanoseconds() == 0) return false;
    nanoseconds += launch.grid.count() * launch.cost->nanoseconds();
  }
  return bytes < nanoseconds / idle_memory;
}

}  // namespace

uint32_t blocks_per_task(const Dim3& grid, const Dim3& block, const OrderLimits& limits,
                         uint32_t block_nanoseconds) {
  const uint64_t blocks = grid.count();
  uint64_t wanted = divide_up(limits.task_threads, std::max<uint64_t>(1, block.count()));
  // Powers of two, so that measurements which hardly differ give the same tasks.
  if (block_nanoseconds != 0 && wanted * block_nanoseconds > longest_task_nanoseconds) {
    const uint64_t many = divide_up(blocks, limits.workers * many_tasks);
    const uint64_t good = std::bit_ceil(divide_up(good_task_nanoseconds, block_nanoseconds));
    wanted = std::clamp(many, std::min(good, wanted), wanted);
  } else if (block_nanoseconds != 0 && wanted * block_nanoseconds < shortest_task_nanoseconds) {
    wanted = std::bit_floor(divide_up(good_task_nanoseconds, block_nanoseconds));
  }
  uint64_t tasks = divide_up(blocks, wanted);
  // Few tasks are shared out evenly.
  if (tasks < uint64_t{limits.workers} * few_tasks) {
    if (limits.on_host && block_nanoseconds == 0) tasks = limits.workers * few_tasks;
    tasks = std::min(blocks, divide_up(tasks, limits.workers) * limits.workers);
  }
  wanted = divide_up(blocks, tasks);
  if (wanted >= grid.x) {
    wanted = wanted / grid.x * grid.x;
  } else {
    wanted = divide_up(grid.x, divide_up(grid.x, wanted));
  }
  return static_cast<uint32_t>(wanted);
}

uint64_t band_cache_bytes(uint64_t last_level, uint64_t own_caches) {
  if (last_level > far_cache_bytes && own_caches != 0) return own_caches;
  return (last_level != 0 ? last_level : usual_cache_bytes) / part_of_cache;
}

bool Planner::wants_lanes(const LaunchWindow& held) const {
  return limits_.stress == 0 && limits_.own_cache_bytes != 0 && !held.empty() &&
         distinct_bytes(held.touched()) <= limits_.own_cache_bytes;
}

void Planner::find_task_edges(megakernel::Window& tables) {
  for (const megakernel::LaunchSlot& slot : tables.slots) {
    for (uint32_t i = 0; i < slot.dependence_count; ++i) {
      megakernel::SlotDependence& dependence = tables.dependences[slot.first_dependence + i];
      const uint32_t master = tables.slots[dependence.master_slot].blocks_per_task;
      dependence.task_edges = &needs_.find(*dependence.edges, master, slot.blocks_per_task).edges;
    }
  }
}

void Planner::plan(PlannedWindow& planned, std::vector<double> speeds) {
  const std::lock_guard lock(mutex_);
  const LaunchWindow& held = planned.held;
  if (speeds.empty()) speeds.assign(limits_.workers, 1);
  const bool in_lanes = wants_lanes(held);
  LaneCuts known_cuts(speeds);
  std::vector<const LaneCut*> cuts;
  if (in_lanes) cuts.reserve(held.size());
  planned.launches.reserve(held.size());
  megakernel::Window& tables = planned.tables;
  tables.slots.reserve(held.size());
  std::vector<std::span<const TouchedBuffer>> touched;
  touched.reserve(held.size());
  uint32_t next_dependence = 0;
  size_t next_touched = 0;
  for (const HeldLaunch& launch : held.launches()) {
    planned.launches.push_back({held.parameters(launch),
                                {launch.grid.x, launch.grid.y, launch.grid.z},
                                launch.dynamic_shared_bytes});
    megakernel::LaunchSlot slot;
    slot.code = launch.code;
    slot.runner = launch.runner.get();
    slot.device = launch.device.get();
    slot.parameter_bytes = static_cast<uint32_t>(launch.parameter_bytes);
    slot.launch = &planned.launches.back();
    slot.block_count = static_cast<uint32_t>(launch.grid.count());
    slot.cost = launch.cost;
    const uint32_t nanoseconds = launch.cost == nullptr ? 0 : launch.cost->nanoseconds();
    slot.blocks_per_task = blocks_per_task(launch.grid, launch.block, limits_, nanoseconds);
    if (in_lanes) {
      cuts.push_back(&known_cuts.find(launch.grid, slot.blocks_per_task, nanoseconds));
      slot.blocks_per_task = cuts.back()->blocks_per_task;
    }
    slot.first_flag = tables.flag_count;
    slot.first_dependence = next_dependence;
    slot.dependence_count = launch.dependence_count;
    tables.flag_count += static_cast<uint32_t>(divide_up(slot.block_count, slot.blocks_per_task));
    next_dependence += launch.dependence_count;
    tables.slots.push_back(slot);
    touched.push_back(held.touched().subspan(next_touched, launch.touched_count));
    next_touched += launch.touched_count;
  }
  for (const HeldDependence& dependence : held.dependences()) {
    tables.dependences.push_back({dependence.master, dependence.edges});
  }
  needs_.trim();
  if (limits_.on_host) find_task_edges(tables);
  planned.task_edges = needs_.holder();
  if (limits_.stress != 0) return order_randomly(tables, limits_.stress++);
  if (in_lanes) return order_in_lanes(tables, cuts);
  OrderLimits limits = limits_;
  // Launches that are swept together then only take the caches from each other.
  if (computes(held.launches(), held.touched())) limits.most_launches = 1;
  planned.bands = find_bands(tables, touched, limits, needs_);
  order_tasks(tables, planned.bands, speeds, needs_);
}

}  // namespace sluice::runtime
