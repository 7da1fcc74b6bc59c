// Finding strides in an access relation.
#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "dro/boxes/block_boxes.hpp"
#include "dro/strides/block_strides.hpp"
#include "relation/relation.hpp"

namespace sluice::dro {

// strides_of() is the strides of a relation where its parameters have `values`, without isl. The
// grid is one row of blocks. Nothing where a block lies outside it, where too little order is seen,
// or past the budget.
//
// What the analysis writes of a thread's place, i = t % width and j = t / width with t = 256 x + e,
// has e as a variable and each quotient as another. Where t, without x and e alone, is all that
// matters, the loops go through the quotients, which are as many as there are rows, and each leaves
// one interval of t: its bytes are one run. The same is tried with the byte in the place of t, and
// then block by block.
std::optional<Strides> strides_of(const Relation& relation, std::span<const int64_t> values,
                                  const Dim3& grid, Budget& budget);

// strides_of() is the same of boxes.
std::optional<Strides> strides_of(const Boxes& boxes, const Dim3& grid, Budget& budget);

}  // namespace sluice::dro
