#include "runtime/plan.hpp"

#include <algorithm>
#include <utility>

#include "runtime/order.hpp"

namespace sluice::runtime {
namespace {

constexpr uint64_t tasks_per_worker = 12;
// With 2048 threads a task, tickets and flags cost more than they bring (FACTS: three times slower
// than no tasks at all); with this many they vanish.
constexpr uint64_t least_threads = 16384;

uint64_t divide_up(uint64_t a, uint64_t b) {
  return (a + b - 1) / b;
}

}  // namespace

uint32_t blocks_per_task(const Dim3& grid, const Dim3& block, uint32_t workers) {
  const uint64_t blocks = grid.count();
  const uint64_t for_balance = std::max<uint64_t>(1, blocks / (tasks_per_worker * workers));
  const uint64_t for_worth = divide_up(least_threads, std::max<uint64_t>(1, block.count()));
  const uint64_t for_everyone = std::max<uint64_t>(1, blocks / workers);
  uint64_t wanted = std::max(for_balance, std::min(for_worth, for_everyone));
  if (wanted >= grid.x) {
    wanted = wanted / grid.x * grid.x;
  } else {
    wanted = divide_up(grid.x, divide_up(grid.x, wanted));
  }
  return static_cast<uint32_t>(wanted);
}

std::shared_ptr<const PlannedWindow> plan(LaunchWindow& held, uint32_t workers) {
  auto planned = std::make_shared<PlannedWindow>();
  planned->launches.reserve(held.size());
  megakernel::Window& tables = planned->tables;
  tables.slots.reserve(held.size());
  uint32_t next_dependence = 0;
  for (const HeldLaunch& launch : held.launches()) {
    planned->launches.push_back({held.parameters(launch),
                                 {launch.grid.x, launch.grid.y, launch.grid.z},
                                 launch.dynamic_shared_bytes});
    megakernel::LaunchSlot slot;
    slot.code = launch.code;
    slot.launch = &planned->launches.back();
    slot.block_count = static_cast<uint32_t>(launch.grid.count());
    slot.blocks_per_task = blocks_per_task(launch.grid, launch.block, workers);
    slot.first_flag = tables.flag_count;
    slot.first_dependence = next_dependence;
    slot.dependence_count = launch.dependence_count;
    tables.flag_count += static_cast<uint32_t>(divide_up(slot.block_count, slot.blocks_per_task));
    next_dependence += launch.dependence_count;
    tables.slots.push_back(slot);
  }
  for (const HeldDependence& dependence : held.dependences()) {
    tables.dependences.push_back({dependence.master, dependence.edges});
  }
  order_tasks(tables);
  // The parameter blocks stay where they are when the window that owns them moves.
  planned->held = std::exchange(held, {});
  return planned;
}

}  // namespace sluice::runtime
