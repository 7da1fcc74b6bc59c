// Windows for tests: slots from C++ callables, tables from a few numbers; and who runs them.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <vector>

#include "megakernel/host/host_executor.hpp"
#include "megakernel/host/task_edges.hpp"
#include "megakernel/layout.hpp"

namespace sluice::megakernel::testing {

// workers() configures an executor of that many.
inline HostExecutor::Config workers(uint32_t count) {
  return HostExecutor::Config{}.set_workers(count);
}

// BlockBody is what one block of a test launch does.
using BlockBody = std::function<void(uint32_t block, void* scratch)>;

// run_blocks() is the block function of every test launch: its parameters are a BlockBody.
inline void run_blocks(const SluiceBlockLaunch* launch, uint32_t first_block, uint32_t block_count,
                       void* scratch) {
  const auto& body = *static_cast<const BlockBody*>(launch->parameters);
  for (uint32_t block = first_block; block < first_block + block_count; ++block) {
    body(block, scratch);
  }
}

// WindowBuilder owns what its window points to. Tasks come in launch order unless add_tasks() is
// told not to.
class WindowBuilder {
 public:
  // add_launch() returns the slot of a launch whose blocks run `body`.
  uint32_t add_launch(const Dim3& grid, uint32_t blocks_per_task, BlockBody body,
                      uint64_t scratch_bytes = 0) {
    bodies_.push_back(std::move(body));
    launches_.push_back({&bodies_.back(), {grid.x, grid.y, grid.z}, 0});
    LaunchSlot slot;
    slot.code = {&run_blocks, scratch_bytes};
    slot.launch = &launches_.back();
    slot.block_count = static_cast<uint32_t>(grid.count());
    slot.blocks_per_task = blocks_per_task;
    slot.first_flag = window.flag_count;
    slot.first_dependence = static_cast<uint32_t>(window.dependences.size());
    window.flag_count += (slot.block_count + blocks_per_task - 1) / blocks_per_task;
    window.slots.push_back(slot);
    return static_cast<uint32_t>(window.slots.size() - 1);
  }

  // depend() makes the launch added last wait for `master` by `table`.
  void depend(uint32_t master, dro::EdgeTable table) {
    tables_.push_back(std::move(table));
    task_edges_.emplace_back(tables_.back(), window.slots[master].blocks_per_task,
                             window.slots.back().blocks_per_task);
    window.dependences.push_back({master, &tables_.back(), &task_edges_.back()});
    ++window.slots.back().dependence_count;
  }

  void add_tasks_in_launch_order() {
    for (uint32_t slot = 0; slot < window.slots.size(); ++slot) {
      const LaunchSlot& launch = window.slots[slot];
      for (uint32_t block = 0; block < launch.block_count; block += launch.blocks_per_task) {
        window.tasks.push_back(
            {slot, block, std::min(launch.blocks_per_task, launch.block_count - block)});
      }
    }
  }

  Window window;

 private:
  std::deque<BlockBody> bodies_;
  std::deque<SluiceBlockLaunch> launches_;
  std::deque<dro::EdgeTable> tables_;
  std::deque<TaskEdges> task_edges_;
};

inline dro::BlockBox whole(const Dim3& grid) {
  return {0, 0, 0, grid.x - 1, grid.y - 1, grid.z - 1};
}

// cross_table() is the 5-point stencil's: blocks at Manhattan distance at most one.
inline dro::EdgeTable cross_table(const Dim3& grid) {
  dro::EdgeTable table;
  table.form = dro::EdgeForm::neighbours;
  table.master_grid = table.slave_grid = grid;
  table.master_box = table.slave_box = whole(grid);
  table.offsets = {{0, -1, 0}, {-1, 0, 0}, {0, 0, 0}, {1, 0, 0}, {0, 1, 0}};
  return table;
}

inline dro::EdgeTable all_table(const Dim3& master, const Dim3& slave) {
  dro::EdgeTable table;
  table.form = dro::EdgeForm::all;
  table.master_grid = master;
  table.slave_grid = slave;
  table.master_box = whole(master);
  table.slave_box = whole(slave);
  return table;
}

// ranges_table() takes, for each slave block, its ranges of master blocks.
inline dro::EdgeTable ranges_table(const Dim3& master, const Dim3& slave,
                                   const std::vector<std::vector<dro::BlockRange>>& of_block) {
  dro::EdgeTable table;
  table.form = dro::EdgeForm::ranges;
  table.master_grid = master;
  table.slave_grid = slave;
  table.rows.push_back(0);
  for (const auto& ranges : of_block) {
    table.ranges.insert(table.ranges.end(), ranges.begin(), ranges.end());
    table.rows.push_back(static_cast<uint32_t>(table.ranges.size()));
  }
  return table;
}

}  // namespace sluice::megakernel::testing
