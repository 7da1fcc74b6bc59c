// A footprint whose relations have symbolic numbers of the shape as parameters.
#pragma once

#include <cstdint>
#include <vector>

#include "analysis/footprint.hpp"
#include "analysis/shape_family.hpp"

namespace sluice::analysis {

// SymbolicFootprint holds for every launch shape of a family. It is a value.
class SymbolicFootprint {
 public:
  // `footprint` is of the family: not opaque; symbols that it has already do not matter. `scalars`
  // are the kernel's shape scalars, of 1 to 8 bytes each.
  SymbolicFootprint(ShapeFamily family, Footprint footprint,
                    const std::vector<ParameterSlot>& scalars);

  const ShapeFamily& family() const { return family_; }

  // covers() is true of the shapes of the family.
  bool covers(const LaunchShape& shape) const;

  // at() is the footprint of one shape of the family: its relations are those of the family, and
  // its symbols give the parameters their values.
  Footprint at(const LaunchShape& shape) const;

 private:
  int64_t value(const LaunchShape& shape, ShapeNumber number) const;

  ShapeFamily family_;
  Footprint source_;
  std::vector<uint32_t> scalar_bytes_;
};

}  // namespace sluice::analysis
