// Computing a value again instead of keeping it.
#pragma once

#include <llvm/ADT/ArrayRef.h>
#include <llvm/IR/Instruction.h>

#include "hostcuda/jit/regions/uniformity.hpp"

namespace sluice::hostcuda::jit {

// rematerialise() copies the computation of each of `values` that is a small expression of
// arguments and uniform values in front of its uses in other blocks, where those values are uniform
// there too. Only integers and pointers: floating-point work is dearer than a load.
void rematerialise(llvm::Function& function, llvm::ArrayRef<llvm::Instruction*> values,
                   const Uniformity& uniformity);

}  // namespace sluice::hostcuda::jit
