// Double arithmetic in directed rounding modes, for mul.rp.f64 and its kin.
#pragma once

#include <vector>

#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/Intrinsics.h>

namespace sluice::hostcuda::jit {

// DirectedFunction is a C++ function that computes in the processor's own rounding mode: LLVM has
// no portable way to say the mode of one instruction. Kernels call it by symbol.
struct DirectedFunction {
  llvm::Intrinsic::ID intrinsic;
  const char* symbol;
  void* address;
};
const std::vector<DirectedFunction>& directed_functions();

// call_directed() is the value of an intrinsic of the list, null for any other.
llvm::Value* call_directed(llvm::Intrinsic::ID id, llvm::ArrayRef<llvm::Value*> operands,
                           llvm::IRBuilder<>& ir);

}  // namespace sluice::hostcuda::jit
