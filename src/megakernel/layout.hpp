// The layout of a window's tables, as workers of either device read them.
#pragma once

#include <cstdint>
#include <vector>

#include "base/dim3.hpp"
#include "base/divide_up.hpp"
#include "dro/edges/edge_table.hpp"
#include "hostcuda/block_abi.h"

namespace sluice::megakernel {

// BlockRunner stands between a host worker and the blocks of a launch that is watched.
class BlockRunner {
 public:
  virtual ~BlockRunner() = default;
  // run() does what code.function does. Called by several workers at once.
  virtual void run(const SluiceBlockCode& code, const SluiceBlockLaunch& launch,
                   uint32_t first_block, uint32_t block_count, void* scratch) = 0;
};

struct DeviceCode;  // cuda/device_tables.hpp
class BlockCost;    // block_cost.hpp
class TaskEdges;    // host/task_edges.hpp

// LaunchSlot is one launch of a window. A host worker runs `code`, a GPU's `device`.
struct LaunchSlot {
  SluiceBlockCode code = {};
  const SluiceBlockLaunch* launch = nullptr;  // outlives the window's execution
  BlockRunner* runner = nullptr;              // null: code.function is called directly
  BlockCost* cost = nullptr;                  // told what the blocks take; null: nobody asks
  const DeviceCode* device = nullptr;
  uint32_t parameter_bytes = 0;  // of launch->parameters; read for a GPU only
  uint32_t block_count = 0;
  uint32_t blocks_per_task = 1;
  uint32_t first_flag = 0;        // flag of its task 0; task i has flag first_flag + i
  uint32_t first_dependence = 0;  // into Window::dependences
  uint32_t dependence_count = 0;
};

// task_count() is how many tasks the slot's blocks make.
inline uint32_t task_count(const LaunchSlot& slot) {
  return static_cast<uint32_t>(divide_up(slot.block_count, slot.blocks_per_task));
}

// SlotDependence is one dependence of a slot on an earlier slot of the same window.
struct SlotDependence {
  uint32_t master_slot = 0;
  const dro::EdgeTable* edges = nullptr;  // outlives the window's execution
  // The same edges by tasks of the two slots' sizes, for host workers, who read nothing else; a GPU
  // needs none. Outlives the window's execution.
  const TaskEdges* task_edges = nullptr;
};

// Task is a run of neighbouring blocks of one slot. Its place in Window::tasks is its ticket.
struct Task {
  uint32_t slot = 0;
  uint32_t first_block = 0;
  uint32_t block_count = 0;
};

// TaskRange is a run of neighbouring tasks of one launch, `last` included.
struct TaskRange {
  uint32_t first = 0;
  uint32_t last = 0;
  friend bool operator==(const TaskRange&, const TaskRange&) = default;
};

// Window is what the executor runs as one graph. Invariant: tasks is a topological order, that
// is, every task that a task waits for stands before it.
struct Window {
  std::vector<LaunchSlot> slots;
  std::vector<SlotDependence> dependences;
  std::vector<Task> tasks;
  uint32_t flag_count = 0;
  // Lanes say which worker of the host should run what, so that it finds in its own cache what it
  // left there: the tickets of lane i are lane_tasks[lane_ends[i - 1]] .. lane_tasks[lane_ends[i] -
  // 1], in rising order, and each ticket is in one lane. Without lanes all workers share one.
  std::vector<uint32_t> lane_tasks;
  std::vector<uint32_t> lane_ends;
};

}  // namespace sluice::megakernel
