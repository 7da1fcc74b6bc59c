// What a footprint's relation says of each block, by searching it point by point: slow where a
// relation is large, and quick for relations with many divisions, over which isl's own generation
// of loops takes minutes.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "base/dim3.hpp"
#include "relation/relation.hpp"
#include "runtime/check/byte_runs.hpp"

namespace sluice::analysis::random {

struct Domain {
  int64_t low = -(int64_t{1} << 60);
  int64_t high = int64_t{1} << 60;
};
using Domains = std::vector<Domain>;

// Piece is one basic relation. Its variables are the block's x, y and z, the byte, and what the
// relation has bound by `exists`, in this order.
struct Piece {
  // Constraint says: sum of coefficient * variable + constant >= 0.
  struct Constraint {
    int64_t constant = 0;
    std::vector<int64_t> coefficients;
  };
  std::vector<Constraint> constraints;
  Domains domains;   // within which every point lies
  bool fits = true;  // all numbers fit in 64 bits: else only isl can tell of it
};

class RelationBytes {
 public:
  // read() lists the bytes of every block. Nothing where it is no bounded relation from
  // blocks to bytes.
  static std::optional<RelationBytes> read(const Relation& relation, const Dim3& grid);

  // of() is what was listed of a block, by its linear number: all, where complete().
  const ByteRuns& of(size_t block) const { return blocks_[block]; }
  bool complete() const { return complete_; }

  // contains() is right also where the bytes are too many to list.
  bool contains(size_t block, int64_t byte) const;

 private:
  std::array<int64_t, 3> position(size_t block) const;
  bool contains_by_isl(size_t block, int64_t byte) const;

  Dim3 grid_;
  Relation relation_;
  std::vector<Piece> pieces_;
  std::vector<ByteRuns> blocks_;
  bool complete_ = true;
};

}  // namespace sluice::analysis::random
