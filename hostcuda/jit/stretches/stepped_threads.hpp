// Loops over threads of which one in so many does anything.
#pragma once

#include <llvm/IR/PassManager.h>

namespace sluice::hostcuda::jit {

// SteppedThreadsPass has loops go from one such thread to the next: a tree of additions is often
// written `if (t % 8 == 0) sum[t] += sum[t + 4]`, which asks seven threads in eight for nothing.
class SteppedThreadsPass : public llvm::PassInfoMixin<SteppedThreadsPass> {
 public:
  static llvm::PreservedAnalyses run(llvm::Function& function,
                                     llvm::FunctionAnalysisManager& analyses);
};

}  // namespace sluice::hostcuda::jit
