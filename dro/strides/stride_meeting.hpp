// Where two parts of accesses touch the same bytes.
#pragma once

#include <vector>

#include "dro/edges/strided_edges.hpp"
#include "dro/strides/block_strides.hpp"
#include "relation/budget.hpp"

namespace sluice::dro {

// meet() appends the pairs of positions of two parts that touch a common byte, the later one's as
// the slave's. False, with `found` in any state, where the rows of one don't fit those of the
// other, where too many parts come out, or past the budget.
bool meet(const BlockStrides& later, const BlockStrides& earlier, Budget& budget,
          std::vector<StridedPart>& found);

// within() is what parts touch of `live`; nothing as meet().
std::optional<Strides> within(const Strides& strides, const ByteIntervals& live, Budget& budget);

}  // namespace sluice::dro
