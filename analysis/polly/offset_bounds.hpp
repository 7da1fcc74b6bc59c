// A coarse answer where Polly has none: bounds of an offset from scalar evolution's ranges.
// Internal to the analysis.
#pragma once

#include <array>
#include <cstdint>
#include <optional>

#include <llvm/Analysis/ScalarEvolution.h>

#include "analysis/polly/specialise.hpp"

namespace sluice::analysis {

// OffsetBounds says: low <= offset - (slope * block index) <= high, all in bytes.
struct OffsetBounds {
  std::array<int64_t, 3> slope{};
  int64_t low = 0;
  int64_t high = 0;
};

// bound_offset() bounds `offset` for each block. Nothing where the bounds would span 4 GiB or
// more, which says no more than "the whole buffer".
std::optional<OffsetBounds> bound_offset(llvm::Value* offset, const Specialised& kernel,
                                         llvm::ScalarEvolution& evolution);

}  // namespace sluice::analysis
