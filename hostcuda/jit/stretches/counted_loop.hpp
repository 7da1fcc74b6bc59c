// Loops over threads that count their rounds.
#pragma once

#include <cstdint>
#include <optional>

#include <llvm/ADT/STLFunctionalExtras.h>
#include <llvm/Analysis/LoopInfo.h>
#include <llvm/Analysis/ScalarEvolution.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/PassManager.h>

namespace sluice::hostcuda::jit {

// CountedLoop is a loop over threads, in simplified form, whose only value from round to
// round grows by one, which is left at its end only, and of which nothing is used behind it. Its
// rounds may be run in parts. A loop over the lanes of a warp is none: its rounds stay whole.
struct CountedLoop {
  llvm::Loop* loop = nullptr;
  llvm::BasicBlock* header = nullptr;
  llvm::BasicBlock* latch = nullptr;
  llvm::BasicBlock* exit = nullptr;
  llvm::PHINode* index = nullptr;
  llvm::Instruction* next = nullptr;       // the index of the next round, computed in the latch
  const llvm::SCEV* last_round = nullptr;  // counted from 0; may be expanded in front of the loop

  // What else it may be: one that carries has other values from round to round, as whether any
  // thread goes on, and phis of its exit that use what it ends with; an outer one has loops in it.
  struct Kinds {
    bool may_carry = false;
    bool may_be_outer = false;
  };

  // of() is nullopt where the loop is no such.
  static std::optional<CountedLoop> of(llvm::Loop& loop, llvm::ScalarEvolution& evolution,
                                       Kinds kinds);

  // counts_from_0() is whether the index is the number of the round.
  bool counts_from_0() const;

  // start_of() is what a value that grows by `step` with each round has in round 0, null where it
  // does not grow so or cannot be expanded in front of the loop.
  const llvm::SCEV* start_of(llvm::Value* value, uint64_t step,
                             llvm::ScalarEvolution& evolution) const;

  // run_between() enters the loop from `before` with the index at `first`, and leaves it for
  // `behind` when the next would be `last`, which `first` must not be.
  void run_between(llvm::BasicBlock* before, llvm::Value* first, llvm::Value* last,
                   llvm::BasicBlock* behind) const;
};

// change_counted_loops() calls change(loop, evolution) with the function's counted loops until it
// is false for each of them: after a change everything known of the function is asked for anew.
llvm::PreservedAnalyses change_counted_loops(
    llvm::Function& function, llvm::FunctionAnalysisManager& analyses, CountedLoop::Kinds kinds,
    llvm::function_ref<bool(const CountedLoop& loop, llvm::ScalarEvolution& evolution)> change);

}  // namespace sluice::hostcuda::jit
