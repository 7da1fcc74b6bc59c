// Closed forms of edges that are there as rows.
#pragma once

#include "dro/edges/edge_table.hpp"
#include "relation/budget.hpp"

namespace sluice::dro {

// closed_form() is the same edges in the cheapest form, or as they are past the budget. `table` is
// of ranges and holds an edge.
EdgeTable closed_form(EdgeTable table, Budget& budget);

// widened() is more order than a table of ranges says, in little space: all that waits for anything
// waits for all that anything waits for, between boxes. Other forms, and tables without an edge,
// stay as they are.
EdgeTable widened(EdgeTable table);

}  // namespace sluice::dro
