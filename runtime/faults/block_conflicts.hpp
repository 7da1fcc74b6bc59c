// Two blocks of a launch that touch common bytes.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <tuple>

#include "base/dim3.hpp"
#include "base/number/range.hpp"
#include "relation/isl_context.hpp"
#include "relation/relation.hpp"
#include "relation/relation_runs.hpp"

namespace sluice::runtime {

// BlockConflict is two blocks and bytes, relative to the first relation's, that `first` touches by
// the one and `second` by the other.
struct BlockConflict {
  BlockIndex first, second;
  Range bytes;
};

// BlockConflicts asks isl, once for each pair of relations whatever the values of their
// parameters; where that takes too long for a pair, it lists the bytes of the blocks. Not
// thread-safe.
class BlockConflicts {
 public:
  // Touched is what blocks touch: a relation whose parameters have these values, and the byte
  // where it begins.
  struct Touched {
    const Relation* relation = nullptr;
    int64_t offset = 0;
  };
  struct Answer {
    bool is_known = true;  // false: it would take too long
    std::optional<BlockConflict> conflict;
  };

  // find() is one conflict, if there is any, of different blocks of the grid. Its bytes are
  // relative to what the offsets are relative to.
  Answer find(const Touched& a, const Touched& b, std::span<const int64_t> values,
              const Dim3& grid);

 private:
  enum class Found { nowhere, somewhere, too_long };
  struct Pair {
    Found found = Found::nowhere;
    isl::map blocks;  // the first's that meet the second's, with parameters
  };

  Pair& pair_of(const Relation& a, const Relation& b, int64_t shift);
  std::optional<std::pair<BlockIndex, BlockIndex>> sample(const isl::map& blocks,
                                                          std::span<const int64_t> values);
  Answer list(const Touched& a, const Touched& b, std::span<const int64_t> values,
              const Dim3& grid);

  IslContext context_;
  std::map<std::tuple<Relation, Relation, int64_t>, Pair> pairs_;
};

}  // namespace sluice::runtime
