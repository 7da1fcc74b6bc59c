// Induction variables whose start differs between threads and whose steps do not.
#pragma once

#include <llvm/IR/Function.h>

#include "hostcuda/jit/regions/uniformity.hpp"

namespace sluice::hostcuda::jit {

// split_inductions() rewrites each such integer variable of a loop as its start plus an offset
// that is the same for all threads. A thread then keeps its start, or computes it again, and a
// loop over threads sees how addresses vary with the thread, instead of loading each from an
// array. The snapshot is out of date afterwards where the function returns true.
bool split_inductions(llvm::Function& function, const Uniformity& uniformity);

}  // namespace sluice::hostcuda::jit
