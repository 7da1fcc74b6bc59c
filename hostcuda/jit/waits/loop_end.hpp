// What the end of a loop depends on.
#pragma once

#include <llvm/ADT/SetVector.h>
#include <llvm/ADT/SmallPtrSet.h>
#include <llvm/Analysis/LoopInfo.h>
#include <llvm/Analysis/PostDominators.h>
#include <llvm/IR/Instructions.h>

namespace sluice::hostcuda::jit {

// LoopEnd follows the conditions of a loop's exits back, through operands and through the branches
// that choose a phi's value or whether an exit is reached at all.
class LoopEnd {
 public:
  LoopEnd(const llvm::Loop& loop, llvm::PostDominatorTree& post_dominators);

  // The reads of memory that others write, on which the end depends.
  const llvm::SmallSetVector<llvm::Instruction*, 4>& reads() const { return reads_; }
  // The header's phis on which it depends: what a round hands on to the next.
  const llvm::SmallSetVector<llvm::PHINode*, 8>& carried() const { return carried_; }
  // Where a round gets somewhere for some thread, however it ends.
  bool is_turn(const llvm::BasicBlock& block) const { return turns_.contains(&block); }

  // is_fixed() is true of a value that every round computes alike.
  bool is_fixed(const llvm::Value* value, unsigned depth = 0) const;

 private:
  void add_condition(llvm::BasicBlock& block);
  void add_branches_to(llvm::BasicBlock& block);
  void visit(llvm::Instruction& instruction);
  bool is_read(const llvm::Instruction& instruction) const;
  bool is_turn_taken(llvm::Instruction& instruction) const;

  const llvm::Loop& loop_;
  llvm::PostDominatorTree& post_dominators_;
  const bool has_fence_;
  llvm::SmallVector<llvm::Instruction*> pending_;
  llvm::SmallPtrSet<const llvm::Instruction*, 32> seen_;
  llvm::SmallPtrSet<const llvm::BasicBlock*, 32> asked_;
  llvm::SmallSetVector<llvm::Instruction*, 4> reads_;
  llvm::SmallSetVector<llvm::PHINode*, 8> carried_;
  llvm::SmallPtrSet<const llvm::BasicBlock*, 4> turns_;
};

}  // namespace sluice::hostcuda::jit
