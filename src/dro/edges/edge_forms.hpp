// Closed forms of edges that are there as rows.
#pragma once

#include <cstdint>

#include "dro/edges/edge_table.hpp"

namespace sluice::dro {

// A table in neighbours form has at most so many offsets.
constexpr size_t most_offsets = 128;

// closed_form() is the same edges in the cheapest form: `all` where they are a product of boxes,
// `neighbours` where they are a few fixed offsets between boxes, else as they came. `table` is in
// ranges form and holds an edge.
EdgeTable closed_form(EdgeTable table);

// widened() is more order than a table in ranges form says, in little space: all that waits for
// anything waits for all that anything waits for, between boxes. Other forms, and tables without an
// edge, stay as they are.
EdgeTable widened(EdgeTable table);

// box_count() is how many blocks a box holds; neighbour_count() how many edges a table in
// neighbours form has.
uint64_t box_count(const BlockBox& box);
uint64_t neighbour_count(const EdgeTable& table);

}  // namespace sluice::dro
