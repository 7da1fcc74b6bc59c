// How the threads of a block come to a loop.
#pragma once

#include <utility>
#include <vector>

#include <llvm/ADT/SetVector.h>
#include <llvm/Analysis/LoopInfo.h>
#include <llvm/Analysis/PostDominators.h>
#include <llvm/IR/Dominators.h>
#include <llvm/IR/Function.h>

#include "hostcuda/jit/regions/uniformity.hpp"

namespace sluice::hostcuda::jit {

// Way is how threads come to a loop: from `top`, where all are together, through `blocks`, which
// some leave by `edges` to elsewhere.
struct Way {
  llvm::BasicBlock* top = nullptr;
  llvm::SetVector<llvm::BasicBlock*> blocks;
  std::vector<std::pair<llvm::BasicBlock*, llvm::BasicBlock*>> edges;
};

// WayFinder finds them. What it is given must outlive it.
class WayFinder {
 public:
  WayFinder(llvm::Function& function, const llvm::LoopInfo& loops,
            const llvm::DominatorTree& dominators, const Uniformity& uniformity)
      : function_(function),
        loops_(loops),
        dominators_(dominators),
        post_dominators_(function),
        uniformity_(uniformity) {}

  // Ends says what becomes of threads that can only end where others go to the loop.
  enum class Ends { leave, wait };

  // find() returns the way to a loop that has a preheader; `top` is null where all threads come
  // together as it is. False where they can't be brought together.
  bool find(const llvm::Loop& loop, Ends ends, Way& way) const;

 private:
  bool leaves(llvm::BasicBlock* block, Ends ends) const {
    return ends == Ends::leave && only_ends(block);
  }
  bool only_ends(llvm::BasicBlock* start) const;
  bool collect(const llvm::Loop& loop, Ends ends, Way& way) const;

  llvm::Function& function_;
  const llvm::LoopInfo& loops_;
  const llvm::DominatorTree& dominators_;
  const llvm::PostDominatorTree post_dominators_;
  const Uniformity& uniformity_;
};

}  // namespace sluice::hostcuda::jit
