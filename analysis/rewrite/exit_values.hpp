// What loops leave behind, as values that an affine model can read. Internal to the analysis.
#pragma once

#include <llvm/Analysis/LazyValueInfo.h>
#include <llvm/Analysis/LoopInfo.h>
#include <llvm/Analysis/ScalarEvolution.h>
#include <llvm/IR/Dominators.h>
#include <llvm/IR/Function.h>

namespace sluice::analysis {

// LoopFacts is what is known of a function before it is rewritten.
struct LoopFacts {
  llvm::ScalarEvolution& evolution;
  llvm::LoopInfo& loops;
  llvm::DominatorTree& dominators;
  llvm::LazyValueInfo& ranges;
};

// make_exits_legible() is for loops that compilers unroll, with what is left over in a second loop:
//
//   at = 0; if (n - 1 >=u 3) { left = n - n % 4; do { ...; at += 4; left -= 4; } while (left != 0);
//   } for (rest = n % 4; rest != 0; --rest, ++at) ...
//
// - A value that goes as far as the one by which the loop ends leaves it with what that began with,
//   which reads better than a count of rounds: `at` with n - n % 4.
// - Where a constant stands for it on the way around the loop, and is what it would be there, the
//   value stands for both: n - n % 4 is 0 where n is 1 to 3.
// The function computes what it did. The facts must be forgotten.
void make_exits_legible(llvm::Function& function, const LoopFacts& facts);

}  // namespace sluice::analysis
