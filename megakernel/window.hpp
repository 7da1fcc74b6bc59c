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

// Milestone is told, once and by any thread, when the launches that count towards it are done and
// the earlier milestones that it comes after, by their places, are reached. It throws nothing and
// takes no time; several may be told at once.
struct Milestone {
  std::function<void()> reached;
  std::vector<uint32_t> after;
};
constexpr uint32_t no_milestone = UINT32_MAX;

// Window is what an executor runs as one graph.
struct Window {
  schedule::Plan plan;
  std::vector<LaunchCode> code;  // of each launch of the plan
  // For the host's workers only: milestones, and the one that each launch counts towards, or
  // no_milestone; launches behind the end of the list count towards none.
  std::vector<Milestone> milestones;
  std::vector<uint32_t> milestone_of;
};

}  // namespace sluice::megakernel
