// NVVM's math intrinsics as IEEE operations and calls of the C library.
#pragma once

#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/IntrinsicInst.h>

namespace sluice::hostcuda::jit {

// math_value() emits the value of a math intrinsic, null where it has no lowering. What PTX says
// is correctly rounded is exact; `.approx` operations get the C library's or IEEE's answer, which
// lies within PTX's error bounds.
llvm::Value* math_value(llvm::IntrinsicInst& call, llvm::IRBuilder<>& ir);

}  // namespace sluice::hostcuda::jit
