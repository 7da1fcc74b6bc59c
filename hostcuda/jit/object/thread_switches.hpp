// Switches in loops over threads.
#pragma once

#include <llvm/IR/PassManager.h>

namespace sluice::hostcuda::jit {

// ThreadSwitchesPass makes branches of the switches in innermost loops: LLVM 19 vectorises no loop
// that holds one.
class ThreadSwitchesPass : public llvm::PassInfoMixin<ThreadSwitchesPass> {
 public:
  static llvm::PreservedAnalyses run(llvm::Function& function,
                                     llvm::FunctionAnalysisManager& analyses);
};

}  // namespace sluice::hostcuda::jit
