// Loops over threads that run only the threads which a guard lets through.
#pragma once

#include <llvm/IR/PassManager.h>

namespace sluice::hostcuda::jit {

// ThreadStretchesPass takes guards out of loops over threads. Most kernels begin with one, such as
// 0 < x && x < n - 1, under which everything else lies; a vectorised loop then masks each of its
// accesses, although the guard only cuts off threads at the ends. Where the guard compares sums of
// the loop's index and what is the same in all rounds with what is the same in all rounds, such a
// loop is run in stretches in which no sum of 32 bits crosses a multiple of 2^31; nearly always
// there is one. In a stretch
// - the guard bounds the rounds, and what is left of the loop needs no mask;
// - a sum that is extended to 64 bits, as indices are for addresses, grows by one with each round.
// It
//   is extended once, and neighbouring threads are seen to touch neighbouring places.
// Loops without guards keep their known number of rounds, which is worth more to the vectoriser.
class ThreadStretchesPass : public llvm::PassInfoMixin<ThreadStretchesPass> {
 public:
  static llvm::PreservedAnalyses run(llvm::Function& function,
                                     llvm::FunctionAnalysisManager& analyses);
};

}  // namespace sluice::hostcuda::jit
