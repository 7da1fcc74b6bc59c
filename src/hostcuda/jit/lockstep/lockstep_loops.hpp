// Loops that the threads of a block run side by side, one round at a time.
#pragma once

#include <llvm/IR/Function.h>

#include "hostcuda/jit/lowering/thread_function.hpp"

namespace sluice::hostcuda::jit {

// make_lockstep_loops() finds innermost loops in which neighbouring threads access neighbouring
// memory or the same, and has the threads meet after each round of them, as at a barrier: then the
// loop over threads is the innermost and can be vectorised. Threads that leave such a loop early,
// or never enter it, wait until all have left. What a thread computes is unchanged; whether the
// threads can meet at all the places is for plan_regions() to see. True where it changed something.
bool make_lockstep_loops(llvm::Function& function, const Dim3& block);

}  // namespace sluice::hostcuda::jit
