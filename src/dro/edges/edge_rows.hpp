// Enumerating a relation between blocks as rows of an edge table.
#pragma once

#include "dro/edges/edge_table.hpp"
#include "dro/relations/relations.hpp"

namespace sluice::dro {

// draw_ranges() fills rows, ranges, form and edge_count of `table`, whose grids are set, with the
// relation { B[slave] -> B[master] }. False, and the table untouched, where isl gives up or there
// are too many ranges or rows to hold.
bool draw_ranges(const isl::map& edges, EdgeTable& table);

}  // namespace sluice::dro
