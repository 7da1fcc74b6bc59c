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

// log2_value() is the logarithm of a float to base 2, with an absolute error below 2^-22 between a
// half and two and a relative one below 2^-22 elsewhere, as PTX allows lg2.approx. Source: PTX ISA,
// lg2.
llvm::Value* log2_value(llvm::Value* x, llvm::IRBuilder<>& ir);

// sine_value() and cosine_value() are those of a float, with an absolute error below 2^-22 up to
// 1000 in magnitude: PTX allows sin.approx and cos.approx 2^-20.5 up to pi and 2^-14.7 up to 100
// pi. Beyond 2^22 they are some number from -1 to 1. Source: PTX ISA, sin and cos.
llvm::Value* sine_value(llvm::Value* x, llvm::IRBuilder<>& ir);
llvm::Value* cosine_value(llvm::Value* x, llvm::IRBuilder<>& ir);

}  // namespace sluice::hostcuda::jit
