// Kernels whose blocks wait for each other.
#pragma once

#include <llvm/IR/Function.h>

namespace sluice::hostcuda::jit {

// let_others_run() makes a kernel that asks for its grid's workspace, as a barrier of the whole
// grid does, give way before each load that may be its wait for another block: there are fewer
// processors than resident blocks, and a block that spins would keep one from those it waits for.
void let_others_run(llvm::Function& function);

}  // namespace sluice::hostcuda::jit
