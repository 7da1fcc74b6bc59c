// Loops in which a thread waits for what another thread writes.
#pragma once

#include <vector>

#include <llvm/Analysis/LoopInfo.h>
#include <llvm/Analysis/PostDominators.h>
#include <llvm/IR/Function.h>

namespace sluice::hostcuda::jit {

// WaitingLoop is a loop that may go round without getting anywhere: whether it ends depends on
// memory that others write (a volatile or atomic word, or one that it reads again after a fence),
// by its value or by the branches that this value takes, and in some round nothing else that its
// end depends on changes. A loop that goes on to another word, counts its tries, or retries because
// another thread got somewhere (compare-and-swap with what was seen, an addition that is a turn)
// does not wait.
struct WaitingLoop {
  llvm::Loop* loop = nullptr;
  llvm::Instruction* read = nullptr;  // one by which it waits
  // The blocks from which it goes round again after such a round.
  std::vector<llvm::BasicBlock*> latches;
  bool meets = false;      // the block's or the warp's threads meet in each such round
  bool is_shared = false;  // what it waits for is in the block's shared memory
  bool is_grid = false;    // or in the workspace of its grid, which one thread of a block waits for
};

// find_waiting_loops() finds those of a thread function (thread_function.hpp), outer ones first.
std::vector<WaitingLoop> find_waiting_loops(llvm::Function& function, const llvm::LoopInfo& loops,
                                            llvm::PostDominatorTree& post_dominators);

}  // namespace sluice::hostcuda::jit
