// Accesses by the first lanes of a vector.
#pragma once

#include <llvm/IR/PassManager.h>

namespace sluice::hostcuda::jit {

// NarrowMasksPass makes of a masked load or store of which the mask has the first 1, 2, 4 … lanes,
// and is known, one of a narrower vector. A tree of additions in shared memory ends in such ones,
// each of which reads what the one before it has stored: a processor hands a store on to a load
// that lies within it, and not to a masked one that reaches beyond.
class NarrowMasksPass : public llvm::PassInfoMixin<NarrowMasksPass> {
 public:
  static llvm::PreservedAnalyses run(llvm::Function& function,
                                     llvm::FunctionAnalysisManager& analyses);
};

}  // namespace sluice::hostcuda::jit
