// A footprint whose relations have symbolic numbers of the shape as parameters. Internal to the
// analysis.
#pragma once

#include <vector>

#include "analysis/footprint.hpp"
#include "analysis/shape_family.hpp"
#include "relation/budget.hpp"

namespace sluice::analysis {

// SymbolicFootprint holds for every launch shape of a family. Not thread-safe.
class SymbolicFootprint {
 public:
  // `footprint` is what FootprintMaker::make() gave for `family`; it is not opaque.
  SymbolicFootprint(ShapeFamily family, const Footprint& footprint,
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

// closed() is the same footprint with the values of its symbols put in, so without parameters.
Footprint closed(const Footprint& footprint);

// is_as_good_as() is true where `symbolic`, a footprint with parameters or one shape of it, says as
// much of a launch as `specialised`: each access is there in both and of the same precision.
bool is_as_good_as(const Footprint& symbolic, const Footprint& specialised);

// are_equally_exact() is true where, in addition, the exact accesses of `instance`, with the values
// of its symbols, are the same bytes as those of `specialised`, which has none; false where the
// budget does not suffice to say so.
bool are_equally_exact(const Footprint& instance, const Footprint& specialised, Budget& budget);

}  // namespace sluice::analysis
