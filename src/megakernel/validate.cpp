#include "megakernel/validate.hpp"

#include <string>

#include <fmt/format.h>

namespace sluice::megakernel {
namespace {

constexpr uint32_t no_ticket = UINT32_MAX;

Status check_slot(const Window& window, size_t index, std::vector<bool>& flag_used) {
  const LaunchSlot& slot = window.slots[index];
  const std::string where = fmt::format("slot {}", index);
  if (slot.code.function == nullptr || slot.launch == nullptr) {
    return invalid_input("it has no code or no launch", where);
  }
  if (slot.block_count == 0 || slot.blocks_per_task == 0) {
    return invalid_input("it has no blocks, or tasks of no blocks", where);
  }
  for (uint64_t i = 0; i < task_count(slot); ++i) {
    const uint64_t flag = slot.first_flag + i;
    if (flag >= window.flag_count) return invalid_input("a flag lies past flag_count", where);
    if (flag_used[flag]) return invalid_input("it shares a flag with another slot", where);
    flag_used[flag] = true;
  }
  if (uint64_t{slot.first_dependence} + slot.dependence_count > window.dependences.size()) {
    return invalid_input("its dependences lie outside the window's", where);
  }
  for (uint32_t i = 0; i < slot.dependence_count; ++i) {
    const SlotDependence& dependence = window.dependences[slot.first_dependence + i];
    if (dependence.master_slot >= index || dependence.edges == nullptr) {
      return invalid_input(fmt::format("dependence {} names no earlier slot", i), where);
    }
    if (dependence.edges->slave_grid.count() != slot.block_count ||
        dependence.edges->master_grid.count() != window.slots[dependence.master_slot].block_count) {
      return invalid_input(fmt::format("dependence {} is of other grids", i), where);
    }
  }
  return {};
}

Status check_task(const Window& window, uint32_t ticket, std::vector<uint32_t>& ticket_of_flag) {
  const Task& task = window.tasks[ticket];
  const std::string where = fmt::format("task {}", ticket);
  if (task.slot >= window.slots.size()) return invalid_input("it names no slot", where);
  const LaunchSlot& slot = window.slots[task.slot];
  if (task.first_block >= slot.block_count || task.first_block % slot.blocks_per_task != 0) {
    return invalid_input("its first block is no task's first block", where);
  }
  const uint32_t left = slot.block_count - task.first_block;
  if (task.block_count != std::min(slot.blocks_per_task, left)) {
    return invalid_input("its number of blocks is not that of its slot", where);
  }
  const uint32_t flag = slot.first_flag + task.first_block / slot.blocks_per_task;
  if (ticket_of_flag[flag] != no_ticket) return invalid_input("its blocks have run", where);

  bool in_order = true;
  for (uint32_t i = 0; i < slot.dependence_count; ++i) {
    const SlotDependence& dependence = window.dependences[slot.first_dependence + i];
    const LaunchSlot& master = window.slots[dependence.master_slot];
    dro::for_each_master_range(*dependence.edges, task.first_block, task.block_count,
                               [&](uint32_t first, uint32_t last) {
                                 for (uint32_t t = first / master.blocks_per_task;
                                      t <= last / master.blocks_per_task; ++t) {
                                   in_order = in_order && t < task_count(master) &&
                                              ticket_of_flag[master.first_flag + t] != no_ticket;
                                 }
                               });
  }
  if (!in_order) return invalid_input("it waits for a task that does not stand before it", where);
  ticket_of_flag[flag] = ticket;
  return {};
}

Status check_lanes(const Window& window) {
  if (window.lane_ends.empty()) return {};
  if (window.lane_tasks.size() != window.tasks.size() ||
      window.lane_ends.back() != window.tasks.size()) {
    return invalid_input("its lanes do not hold as many tasks as the window", "lanes");
  }
  std::vector<bool> seen(window.tasks.size(), false);
  uint32_t place = 0;
  for (size_t lane = 0; lane < window.lane_ends.size(); ++lane) {
    for (uint32_t before = 0, first = place; place < window.lane_ends[lane]; ++place) {
      const uint32_t ticket = window.lane_tasks[place];
      if (ticket >= seen.size() || seen[ticket] || (place != first && ticket < before)) {
        return invalid_input("a task stands twice or out of order", fmt::format("lane {}", lane));
      }
      seen[ticket] = true;
      before = ticket;
    }
  }
  return {};
}

}  // namespace

Status validate(const Window& window) {
  std::vector<bool> flag_used(window.flag_count, false);
  uint64_t tasks = 0;
  for (size_t i = 0; i < window.slots.size(); ++i) {
    if (Status status = check_slot(window, i, flag_used); !status) return status;
    tasks += task_count(window.slots[i]);
  }
  if (tasks != window.tasks.size()) {
    return invalid_input(
        fmt::format("the window has {} tasks where its slots make {}", window.tasks.size(), tasks));
  }
  std::vector<uint32_t> ticket_of_flag(window.flag_count, no_ticket);
  for (uint32_t ticket = 0; ticket < window.tasks.size(); ++ticket) {
    if (Status status = check_task(window, ticket, ticket_of_flag); !status) return status;
  }
  return check_lanes(window);
}

}  // namespace sluice::megakernel
