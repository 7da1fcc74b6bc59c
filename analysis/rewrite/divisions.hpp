// Divisions in a form that scalar evolution reads. Internal to the analysis.
#pragma once

#include <llvm/Analysis/ScalarEvolution.h>
#include <llvm/IR/Function.h>

namespace sluice::analysis {

// make_divisions_legible() rewrites, each where the ranges of `evolution` prove it exact:
// - divisions in a narrow type, as LLVM's correlated values leave them, into the type around them:
//   a cut to a narrow type reads as arithmetic that may wrap;
// - signed divisions by a positive constant into unsigned ones of the numbers above and below zero,
//   and signed remainders into what such a division leaves.
// The function computes what it did. `evolution` knows the old code and must be forgotten.
void make_divisions_legible(llvm::Function& function, llvm::ScalarEvolution& evolution);

}  // namespace sluice::analysis
