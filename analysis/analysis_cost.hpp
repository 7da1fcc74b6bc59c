// What an analysis may cost.
#pragma once

#include "relation/budget.hpp"

namespace sluice::analysis {

// The footprint of one shape, or of one family of shapes, beside LLVM's passes over the kernel's
// code, which grow with its length alone: what isl does for Polly and for the relations. Past it
// the footprint is widened.
constexpr Budget::Cost analysis_cost = {5'000'000, uint64_t{320} << 20U};

}  // namespace sluice::analysis
