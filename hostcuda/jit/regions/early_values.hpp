// Computing a value before it is known to be wanted.
#pragma once

#include <llvm/IR/Dominators.h>
#include <llvm/IR/Instruction.h>

namespace sluice::hostcuda::jit {

// can_be_computed_at() is whether the instruction may stand in front of `place`, above the branches
// that lead to it: it touches no memory, fails for no operands, and has them there.
bool can_be_computed_at(const llvm::Instruction& instruction, const llvm::Instruction& place,
                        const llvm::DominatorTree& dominators);

}  // namespace sluice::hostcuda::jit
