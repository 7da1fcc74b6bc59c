// Windows for tests: launches from C++ callables, tables from a few numbers.
#pragma once

#include <algorithm>
#include <cstdint>
#include <deque>
#include <functional>
#include <vector>

#include "dro/edges/edge_table.hpp"
#include "megakernel/window.hpp"
#include "schedule/task_edges.hpp"
#include "schedule/task_runs.hpp"

namespace sluice::megakernel::testing {

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
  WindowBuilder() = default;
  WindowBuilder(const WindowBuilder&) = delete;
  WindowBuilder& operator=(const WindowBuilder&) = delete;

  // add_launch() returns the place of a launch whose blocks run `body`.
  uint32_t add_launch(const Dim3& grid, uint32_t blocks_per_task, BlockBody body,
                      uint64_t scratch_bytes = 0) {
    bodies_.push_back(std::move(body));
    launches_.push_back({&bodies_.back(), {grid.x, grid.y, grid.z}, 0});
    window.code.push_back({.code = {&run_blocks, scratch_bytes}, .launch = &launches_.back()});
    plan.launches.push_back({.block_count = static_cast<uint32_t>(grid.count()),
                             .cut = blocks_per_task,
                             .first_flag = plan.flag_count,
                             .first_dependence = static_cast<uint32_t>(plan.dependences.size())});
    plan.flag_count += task_count(plan.launches.back());
    return static_cast<uint32_t>(plan.launches.size() - 1);
  }

  // depend() makes the launch added last wait for `master` by `table`.
  void depend(uint32_t master, dro::EdgeTable table) {
    tables_.push_back(std::move(table));
    task_edges_.emplace_back(tables_.back(), plan.launches[master].cut, plan.launches.back().cut);
    plan.dependences.push_back({master, &tables_.back(), &task_edges_.back()});
    ++plan.launches.back().dependence_count;
  }

  void add_tasks_in_launch_order() {
    for (uint32_t i = 0; i < plan.launches.size(); ++i) {
      const schedule::LaunchTasks& launch = plan.launches[i];
      for (uint32_t task = 0; task < task_count(launch); ++task)
        plan.tasks.push_back(schedule::task_of(plan, i, task));
    }
  }

  Window window;
  schedule::Plan& plan = window.plan;

 private:
  std::deque<BlockBody> bodies_;
  std::deque<SluiceBlockLaunch> launches_;
  std::deque<dro::EdgeTable> tables_;
  std::deque<schedule::TaskEdges> task_edges_;
};

// offset_table() leads by these offsets within one grid.
inline dro::EdgeTable offset_table(const Dim3& grid, std::vector<dro::BlockOffset> offsets) {
  const auto box = dro::BlockBox::of_grid(grid);
  return make_table(grid, grid, dro::NeighbourEdges{{box, box}, std::move(offsets)});
}

// cross_table() is the 5-point stencil's: blocks at Manhattan distance at most one.
inline dro::EdgeTable cross_table(const Dim3& grid) {
  return offset_table(grid, {{0, -1, 0}, {-1, 0, 0}, {0, 0, 0}, {1, 0, 0}, {0, 1, 0}});
}

inline dro::EdgeTable all_table(const Dim3& master, const Dim3& slave) {
  return make_table(master, slave,
                    dro::AllEdges{{dro::BlockBox::of_grid(master), dro::BlockBox::of_grid(slave)}});
}

// ranges_table() takes, for each slave block, its ranges of master blocks.
inline dro::EdgeTable ranges_table(const Dim3& master, const Dim3& slave,
                                   const std::vector<std::vector<dro::BlockRange>>& of_block) {
  dro::RangeEdges edges{{0}, {}};
  for (const auto& ranges : of_block) {
    edges.ranges.insert(edges.ranges.end(), ranges.begin(), ranges.end());
    edges.end_row();
  }
  return make_table(master, slave, std::move(edges));
}

}  // namespace sluice::megakernel::testing
