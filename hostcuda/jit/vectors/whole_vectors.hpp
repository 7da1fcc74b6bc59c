// Loops over threads in whole, aligned vectors.
#pragma once

#include <llvm/IR/PassManager.h>

namespace sluice::hostcuda::jit {

// WholeVectorsPass cuts a loop over threads where the vectors that it stores begin. A vectorised
// loop as it stands starts wherever its first thread stores, so that each store may lie across two
// lines of the cache, and runs the threads that are left over at its end one by one. Cut, it has
// whole vectors in the middle, which are stored to aligned places, and a vector at each end of
// which a mask takes the threads that there are.
//
// Only loops of which the processor masks all accesses at no great cost are cut. Whether they
// become vectors at all is left to the vectoriser.
class WholeVectorsPass : public llvm::PassInfoMixin<WholeVectorsPass> {
 public:
  static llvm::PreservedAnalyses run(llvm::Function& function,
                                     llvm::FunctionAnalysisManager& analyses);
};

}  // namespace sluice::hostcuda::jit
