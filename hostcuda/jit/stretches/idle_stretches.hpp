// Loops over threads that find nothing to do in most of them.
#pragma once

#include <llvm/IR/PassManager.h>

namespace sluice::hostcuda::jit {

// IdleStretchesPass asks 64 threads at once whether one of them has work, by vectors, and leaves
// them out if not: of a frontier or a search (`if (mask[t])`, `if (keys[t] <= key && key <
// keys[t + 1])`) few threads know what is wanted. Only where the work can't be done in vectors, or
// by gathering and scattering alone: else asking costs as much as the work. What threads of a block
// ask for may be read early, as they run side by side.
class IdleStretchesPass : public llvm::PassInfoMixin<IdleStretchesPass> {
 public:
  static llvm::PreservedAnalyses run(llvm::Function& function,
                                     llvm::FunctionAnalysisManager& analyses);
};

}  // namespace sluice::hostcuda::jit
