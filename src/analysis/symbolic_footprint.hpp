// A footprint whose relations have symbolic numbers of the shape as parameters. Internal to the
// analysis.
#pragma once

#include <memory>
#include <vector>

#include <isl/isl-noexceptions.h>

#include "analysis/footprint.hpp"
#include "analysis/shape_family.hpp"

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

  // at() is the footprint of one shape of the family, without parameters.
  Footprint at(const LaunchShape& shape);

 private:
  // Relations are those of one argument; null where it has no such access.
  struct Relations {
    isl::map reads, may_writes, must_writes;
  };
  Access instance(const Access& access, const isl::map& relation, const LaunchShape& shape) const;
  int64_t value(const LaunchShape& shape, ShapeNumber number) const;

  ShapeFamily family_;
  Footprint source_;
  std::vector<uint32_t> scalar_bytes_;
  std::unique_ptr<isl_ctx, isl_stat (*)(isl_ctx*)> context_;
  std::vector<Relations> relations_;
};

// is_as_good_as() is true where `symbolic`, a footprint with parameters or one shape of it, says as
// much of a launch as `specialised`: each access is there in both and of the same precision.
bool is_as_good_as(const Footprint& symbolic, const Footprint& specialised);

// are_equally_exact() is true where, in addition, the exact accesses are the same bytes. Neither
// footprint has parameters.
bool are_equally_exact(const Footprint& instance, const Footprint& specialised);

}  // namespace sluice::analysis
