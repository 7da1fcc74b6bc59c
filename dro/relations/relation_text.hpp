// The text of a relation as integer rows.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace sluice::dro {

constexpr size_t block_dims = 3;                  // of a relation from blocks to bytes
constexpr size_t relation_dims = block_dims + 1;  // and the byte

// RelationText is a union of conjunctions of affine comparisons.
struct RelationText {
  // Form is an affine form: the constant, the dimensions, then the integer divisions.
  using Form = std::vector<int64_t>;

  // Piece is one conjunction: equal forms are 0, the others at least 0.
  struct Piece {
    std::vector<Form> equal;
    std::vector<Form> at_least;
    size_t divisions = 0;
  };

  std::vector<std::string> names;  // of the dimensions
  std::vector<Piece> pieces;
};

// parse_relation() reads { B[x, y, z] -> A[o] : ... } as isl prints it. Nothing where the text has
// other dimensions, parameters, "mod" or anything else, or numbers beyond 2^40.
std::optional<RelationText> parse_relation(std::string_view text);

}  // namespace sluice::dro
