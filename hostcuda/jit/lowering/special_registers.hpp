// PTX special registers as arguments and constants of a thread function.
#pragma once

#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/IntrinsicInst.h>

#include "hostcuda/jit/lowering/thread_function.hpp"

namespace sluice::hostcuda::jit {

// special_register() emits the value that an intrinsic llvm.nvvm.read.ptx.sreg.* reads; null where
// the intrinsic is another one. The device is one multiprocessor without clusters: %smid is 0.
llvm::Value* special_register(llvm::IntrinsicInst& read, const Dim3& block,
                              uint64_t static_shared_bytes, llvm::IRBuilder<>& ir);

// linear_thread() is a thread's number in its block, of i32: warps are rows of 32 threads in linear
// order, x fastest.
llvm::Value* linear_thread(llvm::Function& function, const Dim3& block, llvm::IRBuilder<>& ir);

}  // namespace sluice::hostcuda::jit
