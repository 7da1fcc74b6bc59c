// Masks that leave a number as it is.
#pragma once

#include <llvm/IR/PassManager.h>

namespace sluice::hostcuda::jit {

// IdleMasksPass removes them where the ranges of loops' counters tell. LLVM writes a sum without
// carries as an `or`, forgets why it may when a counter becomes wider, masks the bits that might
// carry, and then does not see that neighbouring threads access neighbouring memory.
class IdleMasksPass : public llvm::PassInfoMixin<IdleMasksPass> {
 public:
  static llvm::PreservedAnalyses run(llvm::Function& function,
                                     llvm::FunctionAnalysisManager& analyses);
};

}  // namespace sluice::hostcuda::jit
