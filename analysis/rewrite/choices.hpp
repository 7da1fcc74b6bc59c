// Choices between two values as control flow, which an affine model can read. Internal to the
// analysis.
#pragma once

#include <llvm/Analysis/ScalarEvolution.h>
#include <llvm/IR/Function.h>

namespace sluice::analysis {

// split_choices() moves every touch whose offset depends on a `select` into the two branches of an
// `if`, each with its own offset, and takes comparisons of such values apart:
//
//   touch(c ? a : b)   becomes   if (c) touch(a) else touch(b)
//   (c ? a : b) < n    becomes   (c and a < n) or (not c and b < n)
//
// Minima and maxima stay, since scalar evolution reads them. The function touches what it did.
// `evolution` knows the old code and must be forgotten.
void split_choices(llvm::Function& function, llvm::ScalarEvolution& evolution);

}  // namespace sluice::analysis
