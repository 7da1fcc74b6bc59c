// The condition under which a round of a loop over threads does anything.
#pragma once

#include <cstdint>
#include <optional>
#include <utility>

#include <llvm/ADT/SmallVector.h>
#include <llvm/IR/InstrTypes.h>

#include "hostcuda/jit/stretches/counted_loop.hpp"

namespace sluice::hostcuda::jit {

// Comparison holds where (start + round) predicate limit, all of 32 bits.
struct Comparison {
  const llvm::SCEV* start = nullptr;  // may be expanded in front of the loop
  llvm::CmpInst::Predicate predicate = llvm::CmpInst::BAD_ICMP_PREDICATE;
  llvm::Value* limit = nullptr;  // the same in all rounds
};

// is_both() takes apart a condition that is what it must be only where two others are: an `and`
// that must hold, an `or` that must not.
bool is_both(llvm::Value* condition, bool wanted, llvm::Value*& a, llvm::Value*& b);

// wanted_of_guard() is what the condition at the end of the loop's first block must be for a round
// to do anything; nullopt where rounds are not guarded so.
std::optional<bool> wanted_of_guard(const CountedLoop& loop);

// ThreadGuard is a conjunction, at the end of the loop's first block, of which a round that it does
// not let through goes to the last block at once, having done nothing.
struct ThreadGuard {
  // The rounds that comparisons with numbers known here let through, where there are such.
  struct Rounds {
    uint64_t first = 0;
    uint64_t last = 0;  // behind them; not below the first
  };
  std::optional<Rounds> known;
  llvm::SmallVector<Comparison, 4> comparisons;
  llvm::SmallVector<std::pair<llvm::Value*, bool>, 2> others;  // and what they must be

  // of() is nullopt where nothing bounds the loop's rounds. The loop counts them from 0.
  static std::optional<ThreadGuard> of(const CountedLoop& loop, llvm::ScalarEvolution& evolution);

  // keep_others() leaves of the guard what is no comparison.
  void keep_others(const CountedLoop& loop) const;
};

}  // namespace sluice::hostcuda::jit
