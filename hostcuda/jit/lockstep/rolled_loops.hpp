// Loops that a compiler has unrolled, rolled up again.
#pragma once

#include <llvm/IR/Function.h>

namespace sluice::hostcuda::jit {

// roll_loops() looks for what nvcc makes of a loop such as for (i = lane; i < n; i += 32): one that
// runs the rounds beyond the last multiple of four, as many as each thread has, and behind it one
// of four rounds in each. Neighbouring threads that come to the second with different numbers
// behind them access memory that is not side by side any more. The first becomes the loop that was
// written: i below n is asked in every round, and round for round it is the same for all threads.
//
// That is right where
// - the second loop does four times what the first one does, by computation and by access;
// - the first runs ((n - 1 - start) / 32 + 1) % 4 rounds, and start is below n: then all rounds
//   together are those in which i is below n, and i wraps in none of them.
//
// Where n lies within 32 of 2^31, the loop as it was written has no end on some threads, since i
// wraps behind their last round; neither form has one then.
//
// True where it changed something.
bool roll_loops(llvm::Function& function);

}  // namespace sluice::hostcuda::jit
