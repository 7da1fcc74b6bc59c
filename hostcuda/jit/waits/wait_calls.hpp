// How compiled code lets others run while one of its threads waits.
#pragma once

#include "base/dim3.hpp"
#include "hostcuda/jit/lowering/thread_function.hpp"

namespace sluice::hostcuda::jit {

// insert_waits() has a thread that goes round in a waiting loop (waiting_loops.hpp) without getting
// anywhere let others run: those of its block, by a yield (sync_points.hpp) where it meets none
// there, and other blocks, by wait_turn(). Returns whether it may wait for another block. A kernel
// without such a loop stays as it is.
bool insert_waits(llvm::Function& function, const KernelContext& context);

}  // namespace sluice::hostcuda::jit
