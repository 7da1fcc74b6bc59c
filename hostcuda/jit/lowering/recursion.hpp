// Recursive device functions as loops over frames in memory.
#pragma once

#include <set>
#include <vector>

#include <llvm/IR/Function.h>

#include "base/result.hpp"
#include "hostcuda/jit/lowering/thread_function.hpp"

namespace sluice::hostcuda::jit {

// recursive_functions() are those of a module that reach themselves by direct calls.
using FunctionSet = std::set<const llvm::Function*>;
FunctionSet recursive_functions(llvm::Module& module);

// unroll_recursion() makes `kernel` one function with the recursive functions that it reaches. A
// call makes a frame in the thread's memory and jumps to the function's only copy; a return frees
// the frame and jumps back by the number that the frame holds. What lives across a call is kept in
// the frame. So barriers, ends of threads and indices of threads are what they are anywhere else in
// the kernel. All other calls must have been inlined.
Status unroll_recursion(llvm::Function& kernel, const std::vector<llvm::Function*>& recursive,
                        const KernelContext& context);

}  // namespace sluice::hostcuda::jit
