// Arithmetic of which the processor itself takes small operands for zeros.
#pragma once

#include <llvm/IR/Function.h>

namespace sluice::hostcuda::jit {

// flush_by_processor() takes out the selects by which the lifter makes zeros of subnormal operands
// (.ftz, see ptx/lift.hpp), where a processor that does so by itself (MXCSR's DAZ) computes the
// same without: each float that an operation computes with is flushed, nothing else depends on the
// mode, and what goes anywhere but into arithmetic is still flushed by a select. True where it
// changed something: the code then needs run_flushing(). The function is in SSA form, before its
// addresses, whose spaces are asked for, and its special functions are lowered.
bool flush_by_processor(llvm::Function& function);

// run_flushing() makes a function that calls another one with the processor in that mode.
llvm::Function* run_flushing(llvm::Function& function);

// mark_flushing() tells LLVM of the mode, which folds constants.
void mark_flushing(llvm::Function& function);

}  // namespace sluice::hostcuda::jit
