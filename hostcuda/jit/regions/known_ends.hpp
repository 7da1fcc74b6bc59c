// Threads that end before others, as far as their numbers tell.
#pragma once

#include <cstdint>
#include <vector>

#include <llvm/ADT/DenseMap.h>
#include <llvm/ADT/DenseSet.h>
#include <llvm/IR/Function.h>

#include "base/dim3.hpp"
#include "hostcuda/jit/convergence/lane_values.hpp"

namespace sluice::hostcuda::jit {

// entered_by_the_rest() are the blocks to which threads may come when others of their block have
// ended. `cuts` are the blocks with which regions end.
llvm::DenseSet<const llvm::BasicBlock*> entered_by_the_rest(
    const llvm::Function& function, const llvm::DenseSet<const llvm::BasicBlock*>& cuts);

// KnownEnds goes through a thread function of a structured plan (regions.hpp), region by region,
// with the threads that are left. A tree of additions whose threads go on under one condition in
// another (`if (t < 64) ...` and in it `if (t < 32) ...`) has fewer of them at each of its
// barriers.
class KnownEnds {
 public:
  // `cuts` are the blocks with which regions end.
  KnownEnds(const llvm::Function& function, const Dim3& block,
            const llvm::DenseSet<const llvm::BasicBlock*>& cuts);

  // first_gone() is the number, in linear order, behind the last thread that may enter the region
  // that begins with a block.
  uint32_t first_gone(const llvm::BasicBlock& entry) const;

  // are_all() says that those below it are exactly the threads that have not ended, wherever a
  // region begins and as often as it does.
  bool are_all() const { return are_all_; }

 private:
  using Threads = std::vector<bool>;  // one for each of a block's threads, in linear order
  using Ways = llvm::DenseMap<const llvm::BasicBlock*, Threads>;
  using Cuts = llvm::DenseSet<const llvm::BasicBlock*>;

  void follow(const llvm::Function& function, const Dim3& block, const Cuts& cuts);
  void take_branch(const llvm::BasicBlock& from, const Threads& threads, LaneValues& values,
                   Ways& ways, std::vector<const llvm::BasicBlock*>& changed);
  bool may_end_unseen(const llvm::Function& function, const Cuts& cuts) const;

  Ways entering_;                                   // by the block with which a region begins
  llvm::DenseSet<const llvm::BasicBlock*> untold_;  // that end in a branch nothing is known of
  bool are_all_ = true;
};

}  // namespace sluice::hostcuda::jit
