// Float arithmetic in directed rounding by the processor's own instructions.
#pragma once

#include <llvm/IR/Instructions.h>
#include <llvm/IR/Module.h>
#include <llvm/Target/TargetMachine.h>

namespace sluice::hostcuda::jit {

// use_directed_instructions() has the module's functions for float arithmetic in directed rounding
// (ptx/lift.hpp) stand for the instructions that AVX-512 has for them, which name their
// rounding. Call it before the kernel's calls are inlined: these stay, so that LLVM can make
// vectors of them. On other processors it changes nothing. Source: Intel's manual, volume 1, 15.6.4
// (embedded rounding).
void use_directed_instructions(llvm::Module& module, const llvm::TargetMachine& target);

// is_directed_float() tells the calls that stay.
bool is_directed_float(const llvm::CallBase& call);

// define_directed_floats() defines these functions, for one lane and for vectors of lanes.
void define_directed_floats(llvm::Module& module);

// inline_directed_floats() puts the instructions in the place of the calls, once loops are vectors.
void inline_directed_floats(llvm::Module& module);

}  // namespace sluice::hostcuda::jit
