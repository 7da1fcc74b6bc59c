// Special functions as code in line, which loops over threads vectorise as the rest; a call of the
// C library keeps a loop from that, and its answers may differ from vector to vector.
#pragma once

#include <llvm/IR/IRBuilder.h>

namespace sluice::hostcuda::jit {

// exp2_value() is 2 to the power of a float, with a relative error below 2^-23: PTX allows
// ex2.approx 2^-22. Whole powers are exact, results below the normal ones are rounded once. Source:
// PTX ISA, ex2.
llvm::Value* exp2_value(llvm::Value* x, llvm::IRBuilder<>& ir);
// exp2_value_flushed() is the same with zeros for results below the normal ones (.ftz).
llvm::Value* exp2_value_flushed(llvm::Value* x, llvm::IRBuilder<>& ir);

}  // namespace sluice::hostcuda::jit
