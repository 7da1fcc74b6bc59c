// Loops over threads that count through several rows.
#pragma once

#include <llvm/IR/PassManager.h>

namespace sluice::hostcuda::jit {

// RowStretchesPass takes divisions of 32 bits out of loops over threads. Who launches a grid of one
// dimension over two or three, as portability layers do, has each thread divide its number by the
// width: neighbours are then in one row, nearly always, but which one is not seen to be the same,
// and each access is a gather. Such a loop is run in stretches in which no quotient changes: the
// quotient is computed once for each, and the rest counts on with the rounds. Where a divisor is
// found to be small when the kernel runs, the loop stays as it was.
class RowStretchesPass : public llvm::PassInfoMixin<RowStretchesPass> {
 public:
  static llvm::PreservedAnalyses run(llvm::Function& function,
                                     llvm::FunctionAnalysisManager& analyses);
};

}  // namespace sluice::hostcuda::jit
