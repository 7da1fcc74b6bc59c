// Loads with which all threads begin alike.
#pragma once

#include <llvm/IR/PassManager.h>

namespace sluice::hostcuda::jit {

// FirstLoadsPass takes out of loops over threads what each thread reads at one place before it
// writes anything: as threads run side by side, all may have read before the first writes. LLVM
// keeps such loads in the loop where a thread's stores may meet them, and then knows no addresses
// computed from them: `row = rows[blockIdx.x]; out[row + t] = in[row + t]`.
class FirstLoadsPass : public llvm::PassInfoMixin<FirstLoadsPass> {
 public:
  static llvm::PreservedAnalyses run(llvm::Function& function,
                                     llvm::FunctionAnalysisManager& analyses);
};

}  // namespace sluice::hostcuda::jit
