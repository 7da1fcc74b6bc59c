// Which loops are worth running side by side.
#pragma once

#include <llvm/Analysis/LoopInfo.h>
#include <llvm/IR/Function.h>

#include "hostcuda/jit/lockstep/lane_strides.hpp"

namespace sluice::hostcuda::jit {

// LockstepCandidates finds the loops that gain where the threads of a block go round together: they
// hold nothing that LLVM could not run for several threads at once, and neighbouring threads access
// neighbouring memory or the same. Costs are guessed: right or wrong, the code computes the same.
class LockstepCandidates {
 public:
  explicit LockstepCandidates(llvm::Function& function) : strides_(function) {}
  bool contains(const llvm::Loop& loop);

 private:
  bool is_near(llvm::Instruction& instruction);

  LaneStrides strides_;
};

}  // namespace sluice::hostcuda::jit
