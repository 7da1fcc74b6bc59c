// Atomics on a block's shared memory, which nobody touches but the one thread that runs the block.
#pragma once

#include <llvm/IR/Function.h>

namespace sluice::hostcuda::jit {

// make_shared_atomics_plain() turns the atomic updates of what is surely in the memory at `shared`
// into plain ones. They are volatile, since plain accesses of a loop over threads count as
// independent of each other, and these are not.
void make_shared_atomics_plain(llvm::Function& body, const llvm::Argument& shared);

}  // namespace sluice::hostcuda::jit
