// All that is told of one access of a kernel: what a block touches, and what it shares with others.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "base/result.hpp"
#include "relation/relation.hpp"
#include "runtime/check/footprint_claims.hpp"
#include "tools/explain/block_pattern.hpp"
#include "tools/explain/region.hpp"

namespace sluice::tools {

// Sharing is which other blocks touch a byte that `block` touches as well.
struct Sharing {
  bool none = false;      // no two blocks of the grid share a byte
  bool everyone = false;  // every block touches the same bytes
  std::vector<BlockIndex> others;
  bool more = false;  // there are more than are listed
};

// AccessPicture is all that is told of one access relation.
struct AccessPicture {
  BlockIndex block;  // the example: in the middle of the grid where that one does anything
  // What it touches: its bytes one by one, unless they lie too far apart to be listed; how many
  // they are, unless that is not known either; and the smallest box around them.
  ByteRuns runs;
  std::optional<uint64_t> bytes;
  Box box;
  Pitches pitches;  // of its rows
  std::optional<BlockPattern> pattern;
  Sharing sharing;
  ByteRuns total;        // of all blocks; empty where that is too much to compute
  bool nothing = false;  // no block touches anything
};

// picture_of() looks at a relation without parameters over the blocks of `grid`. An error where it
// is not whole or isl gives up.
Result<AccessPicture> picture_of(const Relation& relation, const Dim3& grid);

}  // namespace sluice::tools
