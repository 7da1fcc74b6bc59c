// A bound for work that asks isl and takes no error for an answer. Internal to the analysis.
#pragma once

#include <cstdint>

#include <llvm/ADT/STLFunctionalExtras.h>

#include "relation/budget.hpp"

namespace sluice::analysis {

// IslAllowance is what isl may spend. Time goes where isl makes many objects, and where it works on
// few but wide ones: its pivots multiply whole matrices and allocate nothing.
struct IslAllowance {
  uint64_t allocations = 0;
  uint64_t numbers = 0;  // in the rows of matrices that are combined, or divided by their gcd
  uint64_t bytes = UINT64_MAX;
};

// isl_spent() is what isl has spent on the calling thread so far, since it began.
const IslAllowance& isl_spent();

// cost_since() is what isl has spent on the calling thread since it had spent `before`.
Budget::Cost cost_since(const IslAllowance& before);

// run_within() calls `work`, and gives it up where isl spends more than `most` for it: false, and
// whatever the work held is leaked, its destructors are not run. isl has a count of its own
// (isl_ctx_set_max_operations), which makes its functions return nothing; Polly, as it builds a
// model, loops over the dimensions of such nothing. Leaving by longjmp is how LLVM itself recovers
// from crashes (llvm/Support/CrashRecoveryContext.h).
//
// Only isl that is linked statically into the same program or library is counted: the linker gives
// its calls of isl_malloc_or_die, isl_calloc_or_die, isl_seq_combine and isl_seq_normalize to this
// file (--wrap). Thread-safe; not to be nested.
bool run_within(const IslAllowance& most, llvm::function_ref<void()> work);

}  // namespace sluice::analysis
