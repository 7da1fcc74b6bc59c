// A window as an executor runs it: a plan, and what its launches run.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "hostcuda/block_abi.h"
#include "schedule/block_cost.hpp"
#include "schedule/plan.hpp"

namespace sluice::megakernel {

// BlockRunner stands between a host worker and the blocks of a launch that is watched.
class BlockRunner {
 public:
  virtual ~BlockRunner() = default;
  // run() does what code.function does. Called by several workers at once.
  virtual void run(const SluiceBlockCode& code, const SluiceBlockLaunch& launch,
                   uint32_t first_block, uint32_t block_count, void* scratch) = 0;
};

struct DeviceCode;  // cuda/tables/device_tables.hpp

// LaunchCode is what a launch runs: a host worker `code`, a GPU's `device`.
struct LaunchCode {
  SluiceBlockCode code = {};
  const SluiceBlockLaunch* launch = nullptr;  // outlives the window's execution
  BlockRunner* runner = nullptr;              // null: code.function is called directly
  schedule::BlockCost* cost = nullptr;        // told what the blocks take; null: nobody asks
  const DeviceCode* device = nullptr;
  uint32_t parameter_bytes = 0;  // of launch->parameters; read for a GPU only
};

// Milestone is told, once and by any thread, when the first launches of a window are done. It
// throws nothing and takes no time.
struct Milestone {
  uint32_t launches = 0;
  std::function<void()> reached;
};

// Window is what an executor runs as one graph.
struct Window {
  schedule::Plan plan;
  std::vector<LaunchCode> code;       // of each launch of the plan
  std::vector<Milestone> milestones;  // by their launches; for the host's workers only
};

}  // namespace sluice::megakernel
