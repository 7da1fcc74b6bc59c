// Ends of loops that all threads of a warp or a block reach in the same round.
#pragma once

#include <llvm/IR/Function.h>

#include "hostcuda/jit/lowering/thread_function.hpp"

namespace sluice::hostcuda::jit {

// The mark of the branch that ends such a loop. Its rounds may be known now, and LLVM could unroll
// it, but each thread would still run all of them before the next one begins.
inline constexpr const char* shared_end = "sluice.shared.end";

// make_ends_uniform() has loops that a lane or a thread goes through in steps of whole warps or
// blocks, such as for (i = lane; i < 1024; i += 32), end by a number that all threads share. Where
// the thread's number takes the lowest bits of the loop's variable alone, and the bound has none of
// these, they decide nothing: a variable that starts without them gives the same answers.
void make_ends_uniform(llvm::Function& function, const Dim3& block);

}  // namespace sluice::hostcuda::jit
