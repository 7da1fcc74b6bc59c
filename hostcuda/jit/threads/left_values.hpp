// What loops over threads leave behind for all threads alike.
#pragma once

#include <llvm/IR/PassManager.h>

namespace sluice::hostcuda::jit {

// LeftValuesPass replaces variables that are carried round a loop, and are one value or none. Where
// some of a block's threads may have ended, those that are left write what is the same for all of
// them; a loop that carries it is not vectorised.
class LeftValuesPass : public llvm::PassInfoMixin<LeftValuesPass> {
 public:
  static llvm::PreservedAnalyses run(llvm::Function& function,
                                     llvm::FunctionAnalysisManager& analyses);
};

}  // namespace sluice::hostcuda::jit
