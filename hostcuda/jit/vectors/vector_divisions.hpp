// 32-bit divisions in loops.
#pragma once

#include <llvm/IR/PassManager.h>

namespace sluice::hostcuda::jit {

// VectorDivisionsPass computes 32-bit quotients and rests by doubles: processors have no vectors of
// integer divisions, and LLVM would take the loop over threads apart. Where a loop does not change
// the divisor, as in `t % width`, its reciprocal is computed once, before the outermost such loop,
// and divisions become multiplications; other divisions become those of doubles in innermost loops
// over threads. Divisions by constants are left alone, which LLVM makes multiplications. Quotients
// and rests are the same to the last bit. Loops must have preheaders.
class VectorDivisionsPass : public llvm::PassInfoMixin<VectorDivisionsPass> {
 public:
  static llvm::PreservedAnalyses run(llvm::Function& function,
                                     llvm::FunctionAnalysisManager& analyses);
};

}  // namespace sluice::hostcuda::jit
