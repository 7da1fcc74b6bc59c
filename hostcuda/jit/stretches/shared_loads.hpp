// Loads that the next round of a loop over threads would repeat.
#pragma once

#include <cstdint>

#include <llvm/ADT/SmallVector.h>
#include <llvm/Analysis/ScalarEvolution.h>
#include <llvm/IR/Instructions.h>

#include "hostcuda/jit/stretches/counted_loop.hpp"

namespace sluice::hostcuda::jit {

// SharedLoads are those of a loop over threads that read what the next threads read as well, as a
// stencil does with its neighbours: the one that is ahead is done, and the others take over what
// the rounds before have loaded. The vectoriser makes a shift of registers of that. A vector loaded
// one element off an aligned place lies across two lines of the cache and costs two loads; of three
// neighbours two are such.
//
// What two threads read, no third may write meanwhile in a program that has no races.
class SharedLoads {
 public:
  // Finds them. The loop stays as it is.
  SharedLoads(const CountedLoop& loop, llvm::ScalarEvolution& evolution);

  // expand() computes in front of `place`, which comes before the loop, where its first round
  // loads.
  void expand(llvm::ScalarEvolution& evolution, llvm::Instruction* place);

  // take_over() changes the loop, which is entered from `before` with its round `first`, of 64
  // bits.
  void take_over(const CountedLoop& loop, llvm::BasicBlock* before, llvm::Value* first,
                 llvm::Value* index_at_0) const;

 private:
  // Chain is a load and those that are 1, 2 ... elements behind it.
  struct Chain {
    const llvm::SCEV* start = nullptr;  // where round 0 loads the one ahead
    llvm::Value* place = nullptr;       // the same, expanded
    llvm::SmallVector<llvm::LoadInst*, 4> loads;
  };
  llvm::SmallVector<Chain, 4> chains_;
};

}  // namespace sluice::hostcuda::jit
