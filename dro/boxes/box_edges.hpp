// Edges between launches whose accesses are boxes, found axis by axis.
#pragma once

#include <optional>
#include <vector>

#include "dro/boxes/block_boxes.hpp"
#include "dro/edges/edge_table.hpp"

namespace sluice::dro {

// BoxMeeting is two accesses to one buffer of which one writes. `intact` says that all bytes of the
// earlier one count; else only some that are not known here do.
struct BoxMeeting {
  const Boxes* later = nullptr;
  const Boxes* earlier = nullptr;
  bool intact = true;
};

// box_edges() is the edges of all meetings together, in the form that draw_edges() gives them. They
// are found one coordinate at a time: two blocks touch common bytes where their positions meet on
// every level. Nothing where a level ties one coordinate to another, where the edges of what is not
// intact matter, or past the budget. The cost of a closed form grows with the sides of the grids,
// that of rows with the slave's blocks.
std::optional<EdgeTable> box_edges(const std::vector<BoxMeeting>& meetings, const Dim3& master_grid,
                                   const Dim3& slave_grid, Budget& budget);

}  // namespace sluice::dro
