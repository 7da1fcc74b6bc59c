// Loops that the threads of a block run side by side, one round at a time.
#pragma once

#include <llvm/IR/Function.h>

#include "hostcuda/jit/lowering/thread_function.hpp"

namespace sluice::hostcuda::jit {

// make_lockstep_loops() finds innermost loops in which neighbouring threads access neighbouring
// memory or the same, and has the threads meet after each round of them, as at a barrier: then the
// loop over threads is the innermost and can be vectorised. Threads that leave such a loop early,
// or never enter it, wait until all have left. True where it changed something.
//
// What a thread computes is unchanged because
// - a meeting only delays: between barriers CUDA orders no thread's plain access before another's,
//   and a loop with any other access is left alone;
// - a thread that waits keeps its values: those that cross blocks lie in variables that only the
//   loop's body writes, and a variable that goes on growing meanwhile (FreeInduction) is one that
//   nobody reads after the loop;
// - a thread goes round as long as any has a round to run, itself included, and then goes where it
//   came to go. `any` is what the threads said at the end of the round before: whoever emits the
//   loops over threads reads it for all of them before the first writes it for the next round;
// - all threads that have not ended come to each meeting together, however often an outer loop
//   brings them there. That is not known here: plan_regions() proves it of the changed function,
//   where every region is left by one cut, or else the kernel is cut as it was before.
bool make_lockstep_loops(llvm::Function& function, const Dim3& block);

}  // namespace sluice::hostcuda::jit
