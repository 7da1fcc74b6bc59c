// Loops over threads that count their rounds and carry nothing else along.
#pragma once

#include <optional>

#include <llvm/Analysis/LoopInfo.h>
#include <llvm/Analysis/ScalarEvolution.h>
#include <llvm/IR/Instructions.h>

namespace sluice::hostcuda::jit {

// CountedLoop is an innermost loop over threads, in simplified form, whose only value from round to
// round grows by one, which is left at its end only, and of which nothing is used behind it. Its
// rounds may be run in parts.
struct CountedLoop {
  llvm::Loop* loop = nullptr;
  llvm::BasicBlock* header = nullptr;
  llvm::BasicBlock* latch = nullptr;
  llvm::BasicBlock* exit = nullptr;
  llvm::PHINode* index = nullptr;
  llvm::Instruction* next = nullptr;       // the index of the next round, computed in the latch
  const llvm::SCEV* last_round = nullptr;  // counted from 0; may be expanded in front of the loop

  // of() is nullopt where the loop is no such.
  static std::optional<CountedLoop> of(llvm::Loop& loop, llvm::ScalarEvolution& evolution);

  // run_between() enters the loop from `before` with the index at `first`, and leaves it for
  // `behind` when the next would be `last`, which `first` must not be.
  void run_between(llvm::BasicBlock* before, llvm::Value* first, llvm::Value* last,
                   llvm::BasicBlock* behind) const;
};

}  // namespace sluice::hostcuda::jit
