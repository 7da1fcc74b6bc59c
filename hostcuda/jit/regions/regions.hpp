// How a thread function is cut into regions that run as loops over threads.
#pragma once

#include <vector>

#include <llvm/IR/Function.h>

#include "hostcuda/jit/lowering/sync_points.hpp"
#include "hostcuda/jit/regions/uniformity.hpp"

namespace sluice::hostcuda::jit {

// RegionPlan says where the loops over threads begin and end. A region runs from its entry to a
// cut: a synchronisation point, a uniform branch (evaluated once, outside the loops over
// threads) or the kernel's end. In a structured plan all threads that stay in the kernel leave a
// region by the same cut, so that the kernel's own loops around barriers stay around the loops
// over threads, as in PoCL and COX. Where they may not, every thread needs a state of its own.
struct RegionPlan {
  bool structured = true;
  bool early_exits = false;                 // some threads may end while others go on to a cut
  std::vector<llvm::BasicBlock*> branches;  // blocks that end in a uniform branch that is a cut
};

RegionPlan plan_regions(llvm::Function& function, const std::vector<SyncPoint>& points,
                        const Uniformity& uniformity);

}  // namespace sluice::hostcuda::jit
