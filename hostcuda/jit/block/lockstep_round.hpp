// Regions that are a round of a lockstep loop.
#pragma once

#include <optional>

#include <llvm/IR/Instructions.h>

#include "hostcuda/jit/block/kept_values.hpp"
#include "hostcuda/jit/lowering/sync_points.hpp"

namespace sluice::hostcuda::jit {

// LockstepRound is a region that ends where threads say whether they go round again. Mostly that
// can be told once more when the region has been run: from what the threads kept before, without
// the memory that it accesses. What each of them says then needs no place in memory unless they
// differ, which is once or twice in a loop.
struct LockstepRound {
  llvm::BasicBlock* cut = nullptr;   // where threads say so
  llvm::BranchInst* head = nullptr;  // lets those into the body that are in the loop
  unsigned inside = 0;               // the slot of what a thread says
  bool goes_on = false;              // threads come with what they said at the end of a round
  bool can_be_told_again = false;

  // of() is nullopt where the region is none, or all threads say the same.
  static std::optional<LockstepRound> of(llvm::BasicBlock* entry, const BlockSet& blocks,
                                         const SyncPoint& point, const LiveValues& live);
};

// may_go_together() says whether all regions that go on in a lockstep loop, of those that begin at
// `entries`, can be run again to tell what threads say at its point.
bool may_go_together(const SyncPoint& point, llvm::ArrayRef<llvm::BasicBlock*> entries,
                     llvm::function_ref<BlockSet(llvm::BasicBlock*)> blocks_of,
                     const LiveValues& live);

// drop_accesses() takes out of a copy of such a region, as clone_blocks() leaves it in `map`, what
// accesses memory other than slots.
void drop_accesses(const BlockSet& blocks, const LiveValues& live, llvm::ArrayRef<SyncPoint> points,
                   llvm::ValueToValueMapTy& map);

}  // namespace sluice::hostcuda::jit
