#include "runtime/plan.hpp"

#include <algorithm>
#include <utility>

#include <unistd.h>

namespace sluice::runtime {
namespace {

// The cache is not a band's alone: other processes, and on a virtual machine other machines, have
// their part, and half full it holds little less.
constexpr uint64_t part_of_cache = 4;
// Where the system does not say how large the caches are.
constexpr uint64_t usual_cache_bytes = uint64_t{8} << 20U;

uint64_t divide_up(uint64_t a, uint64_t b) {
  return (a + b - 1) / b;
}

}  // namespace

uint32_t blocks_per_task(const Dim3& grid, const Dim3& block, uint32_t workers, uint64_t threads) {
  const uint64_t blocks = grid.count();
  const uint64_t for_worth = divide_up(threads, std::max<uint64_t>(1, block.count()));
  const uint64_t for_everyone = std::max<uint64_t>(1, blocks / workers);
  uint64_t wanted = std::min(for_worth, for_everyone);
  if (wanted >= grid.x) {
    wanted = wanted / grid.x * grid.x;
  } else {
    wanted = divide_up(grid.x, divide_up(grid.x, wanted));
  }
  return static_cast<uint32_t>(wanted);
}

uint64_t band_cache_bytes() {
  for (const int level : {_SC_LEVEL3_CACHE_SIZE, _SC_LEVEL2_CACHE_SIZE}) {
    const long bytes = sysconf(level);
    if (bytes > 0) return static_cast<uint64_t>(bytes) / part_of_cache;
  }
  return usual_cache_bytes / part_of_cache;
}

std::shared_ptr<const PlannedWindow> Planner::plan(LaunchWindow& held) {
  auto planned = std::make_shared<PlannedWindow>();
  planned->launches.reserve(held.size());
  megakernel::Window& tables = planned->tables;
  tables.slots.reserve(held.size());
  std::vector<std::span<const TouchedBuffer>> touched;
  touched.reserve(held.size());
  uint32_t next_dependence = 0;
  size_t next_touched = 0;
  for (const HeldLaunch& launch : held.launches()) {
    planned->launches.push_back({held.parameters(launch),
                                 {launch.grid.x, launch.grid.y, launch.grid.z},
                                 launch.dynamic_shared_bytes});
    megakernel::LaunchSlot slot;
    slot.code = launch.code;
    slot.runner = launch.runner.get();
    slot.device = launch.device.get();
    slot.parameter_bytes = static_cast<uint32_t>(launch.parameter_bytes);
    slot.launch = &planned->launches.back();
    slot.block_count = static_cast<uint32_t>(launch.grid.count());
    slot.blocks_per_task =
        blocks_per_task(launch.grid, launch.block, limits_.workers, limits_.task_threads);
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
  planned->bands = find_bands(tables, touched, limits_, needs_);
  if (limits_.stress == 0) {
    order_tasks(tables, planned->bands, needs_);
  } else {
    order_randomly(tables, limits_.stress++);
  }
  // The parameter blocks stay where they are when the window that owns them moves.
  planned->held = std::exchange(held, {});
  return planned;
}

}  // namespace sluice::runtime
