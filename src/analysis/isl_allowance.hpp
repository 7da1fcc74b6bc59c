// A bound for work that asks isl and takes no error for an answer. Internal to the analysis.
#pragma once

#include <cstdint>

#include <llvm/ADT/STLFunctionalExtras.h>

namespace sluice::analysis {

// run_within() calls `work`, and gives it up where isl allocates more than `allocations` objects
// for it: false, and whatever the work held is leaked, its destructors are not run. isl has a count
// of its own (isl_ctx_set_max_operations), which makes its functions return nothing; Polly, as it
// builds a model, loops over the dimensions of such nothing. Leaving by longjmp is how LLVM itself
// recovers from crashes (llvm/Support/CrashRecoveryContext.h).
//
// Only isl that is linked statically into the same program or library is counted: the linker gives
// its calls of isl_malloc_or_die and isl_calloc_or_die to this file (--wrap). Thread-safe; not to
// be nested.
bool run_within(uint64_t allocations, llvm::function_ref<void()> work);

}  // namespace sluice::analysis
