// Reads relations as isl prints them, much faster than isl reads them.
#pragma once

#include <optional>
#include <string_view>

#include "isl/isl-noexceptions.h"

namespace sluice::dro {

// read_relation() reads { B[x, y, z] -> A[o] : ... }, a union of conjunctions of affine comparisons
// with integer divisions, as isl prints it. Its constraints go to isl as rows of integers, where
// isl's own reader intersects one relation for each comparison with those before it and looks
// whether that is empty: 2 milliseconds for the 28 comparisons of a 5-point stencil, here some 60
// microseconds. The tuples are unnamed. Nothing where parse_relation() (relation_text.hpp) does not
// know the text: isl may still be able to read it.
std::optional<isl::map> read_relation(isl::ctx context, std::string_view text);

}  // namespace sluice::dro
