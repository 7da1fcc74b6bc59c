// Which blocks of two pieces touch common bytes, axis by axis.
#pragma once

#include <algorithm>
#include <optional>

#include "dro/boxes/axis_edges.hpp"
#include "dro/boxes/block_boxes.hpp"

namespace sluice::dro {

// joined() is the smallest interval that holds both.
inline Interval joined(const Interval& a, const Interval& b) {
  if (a.empty() || b.empty()) return a.empty() ? b : a;
  return {std::min(a.first, b.first), std::max(a.last, b.last)};
}

// hull_of() is the smallest interval that holds all positions of a level.
Interval hull_of(const BoxLevel& level);

// product_of() relates the blocks of two pieces, `later` being the slave's. Nothing where that
// cannot be done one coordinate at a time; an empty product where they touch no common byte.
std::optional<AxisProduct> product_of(const BlockBoxes& later, const BlockBoxes& earlier,
                                      const Dim3& slave_grid, const Dim3& master_grid);

}  // namespace sluice::dro
