// Enumerating a relation between blocks as rows of an edge table.
#pragma once

#include <optional>

#include "dro/edges/edge_table.hpp"
#include "relation/isl_context.hpp"

namespace sluice::dro {

// draw_ranges() is the relation { B[slave] -> B[master] } as rows. Nothing where isl gives up, or
// past the budget.
std::optional<RangeEdges> draw_ranges(const isl::map& edges, const Dim3& master_grid,
                                      const Dim3& slave_grid, Budget& budget);

}  // namespace sluice::dro
