// The order of a function's blocks in which a warp's lanes come to them.
#pragma once

#include <vector>

#include <llvm/IR/Function.h>

namespace sluice::hostcuda::jit {

// program_order() puts each reachable block after those that lead to it, but for the ways back to a
// loop's start, and all of a loop before what follows the loop: of two lanes that have parted, the
// one whose block comes first is behind.
std::vector<llvm::BasicBlock*> program_order(llvm::Function& function);

}  // namespace sluice::hostcuda::jit
