// Rewrites that turn integer code into a form of which scalar evolution and Polly can make affine
// expressions. Internal to the analysis.
#pragma once

#include <llvm/Analysis/ScalarEvolution.h>
#include <llvm/IR/Function.h>

namespace sluice::analysis {

// make_legible() rewrites, each where the ranges of `evolution` prove it exact:
// - unsigned comparisons into signed ones, negated conditions into plain ones;
// - unsigned minima and maxima into signed ones;
// - masks and arithmetic shifts into divisions by powers of two;
// - multiplications by a magic number and shifts, as compilers write divisions by constants, into
//   divisions;
// - bits put together by `or` into sums.
// The function computes what it did. `evolution` knows the old code and must be forgotten.
void make_legible(llvm::Function& function, llvm::ScalarEvolution& evolution);

}  // namespace sluice::analysis
