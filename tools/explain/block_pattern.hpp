// Which bytes each block of a grid touches, as one formula of the block's indices.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "relation/isl_context.hpp"
#include "runtime/check/footprint_claims.hpp"
#include "tools/explain/block_sample.hpp"
#include "tools/explain/region.hpp"

namespace sluice::tools {

// Linear is constant + slope . (x, y, z) of a block.
struct Linear {
  int64_t constant = 0;
  std::array<int64_t, 3> slope{};

  int64_t at(const BlockIndex& block) const;
  friend bool operator==(const Linear&, const Linear&) = default;
};

// BlockPattern is a box whose ends are linear in the block's indices, as rows and columns of
// `pitches`. Every block of the grid touches only bytes of its box.
struct BlockPattern {
  Pitches pitches;
  std::vector<std::pair<Linear, Linear>> box;  // first and last, one for each pitch and the bytes
  bool less_at_edges = false;  // blocks at the grid's edge reach less far than their box
  bool less_elsewhere = false;
};

// fit_pattern() fits a box to a sample's blocks; nothing where none is linear in their indices. Of
// the blocks that were not looked at it knows nothing: relation_of() is there to prove it.
std::optional<BlockPattern> fit_pattern(const BlockSample& sample, const Dim3& grid,
                                        const Pitches& pitches);

// relation_of() is the pattern as a relation, so that isl can prove that it covers every block and
// not only those that were looked at.
isl::map relation_of(const IslContext& context, const BlockPattern& pattern);

}  // namespace sluice::tools
