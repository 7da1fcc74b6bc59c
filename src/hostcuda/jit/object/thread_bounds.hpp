// Loops over threads that run only the threads which a guard lets through.
#pragma once

#include <llvm/IR/PassManager.h>

namespace sluice::hostcuda::jit {

// ThreadBoundsPass takes guards out of the loops over threads. Most kernels begin with one, such as
// 0 < x && x < n - 1, under which everything else lies; a vectorised loop then masks each of its
// accesses, although the guard only cuts off threads at the ends. Where the guard compares the
// loop's index, with something added, with what is the same in all rounds, the loop gets the bounds
// that the guard gives, and what is left of it needs no mask.
//
// Sums that wrap around stay right: such a loop is run in stretches in which none crosses a
// multiple of 2^31.
class ThreadBoundsPass : public llvm::PassInfoMixin<ThreadBoundsPass> {
 public:
  static llvm::PreservedAnalyses run(llvm::Function& function,
                                     llvm::FunctionAnalysisManager& analyses);
};

}  // namespace sluice::hostcuda::jit
