// Relations from blocks to bytes as plain integers. No isl here.
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace sluice {

// Relation is { B[x, y, z] -> A[o] }, from the blocks of a grid to bytes: a union of pieces, each a
// conjunction of comparisons. Parameters have a place and no name.
struct Relation {
  // Row is an affine form, a number for each column: 1, the parameters, x, y, z, o, then the
  // divisions of its piece, which are integers that are there for some value.
  using Row = std::vector<int64_t>;

  // Piece is one conjunction: equal forms are 0, the others at least 0.
  struct Piece {
    uint32_t divisions = 0;
    std::vector<Row> equal;
    std::vector<Row> at_least;

    // is_small() is true where there are few forms, and sums and products of a few of their numbers
    // are still exact.
    bool is_small() const;
    friend auto operator<=>(const Piece&, const Piece&) = default;
  };

  uint32_t parameters = 0;
  std::vector<Piece> pieces;  // none: no block touches anything

  bool empty() const { return pieces.empty(); }
  size_t block_column() const { return 1 + size_t{parameters}; }
  size_t byte_column() const { return block_column() + 3; }
  // is_whole() is true where each row has a number for each column, as one that was read from a
  // file may not.
  bool is_whole() const;
  friend auto operator<=>(const Relation&, const Relation&) = default;
};

}  // namespace sluice
