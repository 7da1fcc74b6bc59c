// Checks that a plan keeps the promises by which running it cannot hang.
#pragma once

#include "base/result.hpp"
#include "schedule/plan.hpp"

namespace sluice::schedule {

// validate() checks a plan whole: tasks cut every launch into runs of blocks_per_task blocks (the
// last may be shorter), each exactly once; flags of different launches are apart; each dependence
// names an earlier launch and fits the two grids; every task stands after all tasks that it waits
// for; and worker queues hold each task once, in the order of tickets. The error names the task or
// launch. Cost: one visit of every edge range, so it is for tests and tools, not for the launch
// path. Thread-safe.
Status validate(const Plan& plan);

}  // namespace sluice::schedule
