// Footprints of one kernel by the shape of the launch. No pointer is ever part of the key.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "analysis/footprint.hpp"
#include "base/hash.hpp"
#include "dro/types.hpp"
#include "relation/budget.hpp"

namespace sluice::runtime {

// CachedFootprint is what the runtime keeps of a footprint: the tracker's id for it, or why
// launches of this shape are opaque.
struct CachedFootprint {
  dro::FootprintId id = 0;
  std::string opaque_reason;                   // empty: not opaque
  std::optional<analysis::Widening> widening;  // of it
  std::vector<bool> accessed;  // for each pointer slot: is anything reached through it
  std::vector<bool> written;   // likewise
};

// TimedFootprint is an answer of the analysis, the nanoseconds that it took, and the cost of the
// kernel's dearest analysis so far.
struct TimedFootprint {
  analysis::Footprint footprint;
  int64_t nanoseconds = 0;
  Budget::Cost dearest;
};

struct LaunchShapeHash {
  size_t operator()(const analysis::LaunchShape& shape) const {
    const auto pair = [](uint32_t a, uint32_t b) { return a | uint64_t{b} << 32U; };
    const Dim3 &grid = shape.grid, &block = shape.block;
    return hash_of(pair(grid.x, grid.y), pair(grid.z, block.z), pair(block.x, block.y),
                   shape.dynamic_shared_bytes, shape.shape_values);
  }
};

using FootprintCache = std::unordered_map<analysis::LaunchShape, CachedFootprint, LaunchShapeHash>;

}  // namespace sluice::runtime
