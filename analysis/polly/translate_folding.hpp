// Relations of many pieces that are one piece, moved: what unrolled loops leave. Internal to the
// analysis.
#pragma once

#include <cstdint>
#include <vector>

#include <isl/isl-noexceptions.h>

namespace sluice::analysis {

// fold_translates() is the same relation from blocks to bytes with every regular row of pieces,
// p, p + d, p + 2d and so on, as one piece. isl unites pieces only where they touch. What it
// costs afterwards to meet another relation grows with the product of the pieces.
isl::map fold_translates(const isl::map& relation);

// translated() is `piece` moved to each of `places`, in bytes; a regular row is one piece. The
// tuple of bytes is named A.
isl::map translated(const isl::map& piece, std::vector<int64_t> places);

}  // namespace sluice::analysis
