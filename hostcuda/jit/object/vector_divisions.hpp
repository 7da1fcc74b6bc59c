// Integer divisions in loops over threads.
#pragma once

#include <llvm/IR/PassManager.h>

namespace sluice::hostcuda::jit {

// VectorDivisionsPass computes 32-bit quotients and remainders in innermost loops over threads by
// doubles: no processor here divides vectors of integers, and LLVM would take them apart. A double
// holds both operands, and its quotient, cut to an integer, is theirs: it is off by less than
// 2^-21 / divisor, and quotients that are not whole lie at least 1 / divisor below the next whole
// number. Divisions by constants are left alone, which LLVM makes multiplications.
class VectorDivisionsPass : public llvm::PassInfoMixin<VectorDivisionsPass> {
 public:
  static llvm::PreservedAnalyses run(llvm::Function& function,
                                     llvm::FunctionAnalysisManager& analyses);
};

}  // namespace sluice::hostcuda::jit
