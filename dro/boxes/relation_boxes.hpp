// Finding boxes in an access relation, by rewriting its rows in plain integers.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "dro/boxes/block_boxes.hpp"
#include "dro/boxes/box_separation.hpp"
#include "relation/relation.hpp"

namespace sluice::dro {

// forms_of() is the constraints of a piece with the parameters put in; nothing where there are too
// many, or numbers grow too large.
std::optional<std::vector<IntegerForm>> forms_of(const Relation::Piece& piece,
                                                 std::span<const int64_t> values);

// boxes_of() is the boxes of a relation where its parameters have `values`, without isl. Nothing
// where a piece is not seen to be boxes, as may be with rows that isl could still simplify, or
// where a block lies outside the grid, or past the budget.
//
// isl says of a row of an array that o - 4096 q lies within some bounds, where q is a division. So
// the coefficients of o and q in a constraint tell a stride. With c = o - sum of stride * variable
// put in, a constraint either has one of these variables and one of x, y, z; or what it has beyond
// that is too small to matter: in 4096 q + c - 65536 y >= 0 with 0 <= c < 4096 it is c, since whole
// numbers decide. Then each variable is an interval for each value of x, y or z, which is a box.
std::optional<Boxes> boxes_of(const Relation& relation, std::span<const int64_t> values,
                              const Dim3& grid, Budget& budget);

}  // namespace sluice::dro
