// Finding boxes in an access relation, by rewriting its constraints in plain integers.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "dro/boxes/block_boxes.hpp"
#include "dro/relations/piece_constraints.hpp"
#include "dro/relations/relation_text.hpp"
#include "dro/relations/relations.hpp"

namespace sluice::dro {

// BoxTemplate is a relation { B[x, y, z] -> A[o] }, maybe with parameters, from which boxes may be
// found for each launch. It holds nothing of isl's.
//
// isl says of a row of an array that o - 4096 q lies within some bounds, where q is an
// existentially quantified variable or a quotient. So the coefficients of o and q in a constraint
// tell a stride. With c = o - sum of stride * variable put in, a constraint either has one of these
// variables and one of x, y, z; or what it has beyond that is too small to matter: in 4096 q + c -
// 65536 y >= 0 with 0 <= c < 4096 it is c, since whole numbers decide. Then each variable is an
// interval for each value of x, y or z, which is a box.
class BoxTemplate {
 public:
  static std::optional<BoxTemplate> make(const isl::map& relation);

  // The same from a relation's text: no isl is called, and boxes may be found where the text is
  // what isl made of a relation. Not every relation that isl could still simplify shows them.
  static std::optional<BoxTemplate> make(const RelationText& relation);

  // at() is the boxes where the parameters have `values`. Nothing where a piece is not seen to be
  // boxes, or where a block lies outside the grid.
  std::optional<Boxes> at(std::span<const int64_t> values, const Dim3& grid) const;

 private:
  struct Piece {
    size_t variables = 0;  // x, y, z, o, then the existentially quantified ones
    std::vector<Constraint> constraints;
  };
  std::vector<Piece> pieces_;
};

}  // namespace sluice::dro
