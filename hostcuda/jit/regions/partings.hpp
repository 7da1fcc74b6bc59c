// Where threads that take different ways at a branch meet again.
#pragma once

#include <llvm/ADT/DenseSet.h>
#include <llvm/ADT/SetVector.h>
#include <llvm/Analysis/PostDominators.h>
#include <llvm/IR/Function.h>

namespace sluice::hostcuda::jit {

// Parting is the blocks that threads may go through apart, the one where they meet last.
struct Parting {
  using Blocks = llvm::SmallSetVector<llvm::BasicBlock*, 16>;
  llvm::BasicBlock* meeting = nullptr;  // null: they may end apart
  Blocks blocks;
};

// Partings finds them. With `at_barriers` threads meet where all ways lead, and also at a barrier
// of the block that is the same one for all of them.
class Partings {
 public:
  Partings(llvm::Function& function, bool at_barriers);

  Parting at(llvm::BasicBlock& branch) const;

 private:
  Parting::Blocks behind(llvm::BasicBlock& branch, const llvm::BasicBlock* join,
                         bool past_barriers) const;

  llvm::PostDominatorTree post_dominators_;
  llvm::DenseSet<const llvm::BasicBlock*> barriers_;
};

}  // namespace sluice::hostcuda::jit
