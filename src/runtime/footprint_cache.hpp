// Footprints of one kernel by the shape of the launch. No pointer is ever part of the key.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "analysis/footprint.hpp"
#include "dro/types.hpp"

namespace sluice::runtime {

// CachedFootprint is what the runtime keeps of a footprint: the tracker's id for it, or why
// launches of this shape are opaque.
struct CachedFootprint {
  dro::FootprintId id = 0;
  std::string opaque_reason;   // empty: not opaque
  std::vector<bool> accessed;  // for each pointer slot: is anything reached through it
};

struct LaunchShapeHash {
  size_t operator()(const analysis::LaunchShape& shape) const {
    size_t hash = 0;
    const auto mix = [&hash](uint64_t value) {
      // The multiplier and shift of splitmix64's finaliser spread neighbouring extents.
      hash = (hash ^ value) * 0xbf58476d1ce4e5b9U;
      hash ^= hash >> 27U;
    };
    for (const Dim3& extent : {shape.grid, shape.block}) {
      mix(extent.x | uint64_t{extent.y} << 32U);
      mix(extent.z);
    }
    mix(shape.dynamic_shared_bytes);
    for (const uint64_t value : shape.shape_values) {
      mix(value);
    }
    return hash;
  }
};

using FootprintCache = std::unordered_map<analysis::LaunchShape, CachedFootprint, LaunchShapeHash>;

}  // namespace sluice::runtime
