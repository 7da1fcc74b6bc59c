// Which values are the same for all threads of a block.
#pragma once

#include <functional>
#include <vector>

#include <llvm/ADT/DenseSet.h>
#include <llvm/IR/Dominators.h>
#include <llvm/IR/Function.h>

#include "hostcuda/jit/lowering/sync_points.hpp"

namespace sluice::hostcuda::jit {

// Uniformity is a snapshot of what the threads of a block share: what depends on a thread index, an
// atomic or volatile access, a thread's own memory or an operation of a warp is divergent, and so
// is what such values choose. A plain load from a uniform address is uniform, since CUDA gives a
// race no meaning.
//
// Threads that a divergent branch parts meet again where paths from different edges of it do: a phi
// there is divergent. Where some of the paths leave a loop and others don't, threads leave it in
// different rounds, and what they take out of it is divergent for those who use it. LLVM's analysis
// of the same (version 19) misses such places where the paths hold loops or branches themselves.
// Where a cut lies between the branch and their meeting, some wait there while others go on to the
// next cut: what loops around that count is divergent too.
class Uniformity {
 public:
  // With `across_blocks` it is what the threads of neighbouring blocks share, which have their own
  // ctaid.x and their own shared memory.
  Uniformity(llvm::Function& function, const std::vector<SyncPoint>& points,
             bool across_blocks = false);

  // of_warps() is what the lanes of each warp share, where `is_shared` says of a value that depends
  // on the thread's index whether they do. Lanes meet at barriers too.
  using IsShared = std::function<bool(const llvm::Instruction&)>;
  static Uniformity of_warps(llvm::Function& function, const IsShared& is_shared);

  // is_uniform() says that every thread that computes the value, and every thread that uses it,
  // has the same one.
  bool is_uniform(const llvm::Instruction& instruction) const {
    return !divergent_.contains(&instruction);
  }
  // has_uniform_branch() says that all threads that come to the end of `block` together leave it
  // by the same edge.
  bool has_uniform_branch(const llvm::BasicBlock& block) const {
    return !divergent_branches_.contains(&block);
  }

 private:
  Uniformity() = default;

  llvm::DenseSet<const llvm::Instruction*> divergent_;
  llvm::DenseSet<const llvm::BasicBlock*> divergent_branches_;
};

}  // namespace sluice::hostcuda::jit
