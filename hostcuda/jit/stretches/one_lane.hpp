// Loops over the lanes of a warp in which one lane does something.
#pragma once

#include <llvm/IR/PassManager.h>

namespace sluice::hostcuda::jit {

// OneLanePass runs of a loop over lanes (open_lane_loop()) the one lane that it has work for: what
// follows a warp's reduction is mostly done `if (lane == 0)`.
class OneLanePass : public llvm::PassInfoMixin<OneLanePass> {
 public:
  static llvm::PreservedAnalyses run(llvm::Function& function,
                                     llvm::FunctionAnalysisManager& analyses);
};

}  // namespace sluice::hostcuda::jit
