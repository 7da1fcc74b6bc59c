// Which values are the same for all threads of a block.
#pragma once

#include <vector>

#include <llvm/ADT/DenseSet.h>
#include <llvm/IR/Dominators.h>
#include <llvm/IR/Function.h>

#include "hostcuda/jit/lowering/sync_points.hpp"

namespace sluice::hostcuda::jit {

// Uniformity is a snapshot of LLVM's uniformity analysis with the block, not the warp, as the
// group of threads: what depends on a thread index, an atomic or volatile access, a thread's own
// memory or an operation of a warp is divergent, and so is what such values choose. A plain load
// from a uniform address is uniform, since CUDA gives a race no meaning.
class Uniformity {
 public:
  Uniformity(llvm::Function& function, const std::vector<SyncPoint>& points);

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
  llvm::DenseSet<const llvm::Instruction*> divergent_;
  llvm::DenseSet<const llvm::BasicBlock*> divergent_branches_;
};

}  // namespace sluice::hostcuda::jit
