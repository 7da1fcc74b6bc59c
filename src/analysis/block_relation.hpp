// Relations from blocks to bytes, put together from single touches. Internal to the analysis.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include <isl/isl-noexceptions.h>

#include "analysis/access_form.hpp"
#include "analysis/shape_family.hpp"
#include "analysis/touch_places.hpp"

namespace sluice::analysis {

// PlacedTouch is what is known of one touch, or several of one kind, in one launch.
struct PlacedTouch {
  uint32_t touch = 0;
  isl::map bytes;            // B[x, y, z] -> A[o]; null: any byte of the buffer
  bool exact_place = false;  // these bytes and no others
  bool certain = false;      // happens in every execution, whatever the data
  std::string reason;        // where it is not exact and certain
};

// blocks_of() is { B[x, y, z] } of the grids of a family, with its symbolic numbers as parameters.
isl::set blocks_of(isl::ctx context, const ShapeFamily& family);

// sloped_bytes() is the relation from those blocks to `spans`, moved by slope * block index.
isl::map sloped_bytes(isl::ctx context, const std::array<int64_t, 3>& slope,
                      const std::vector<ByteSpan>& spans, const ShapeFamily& family);

// assemble() puts the touches of each pointer slot together. Nothing where isl's operation budget
// does not suffice; the caller then widens.
std::optional<std::vector<ArgumentFootprint>> assemble(isl::ctx context, const AccessForm& form,
                                                       const std::vector<PlacedTouch>& touches);

// coalesced() is the same set or map in fewer pieces where isl finds them. isl's coalescing is
// checked and not trusted: with its default options it was seen to add points.
template <class Relation>
Relation coalesced(const Relation& relation) {
  const Relation fewer = relation.coalesce();
  return fewer.is_equal(relation).is_true() ? fewer : relation;
}

// OperationBudget bounds what isl may spend in its lifetime; past it isl's results are null.
class OperationBudget {
 public:
  explicit OperationBudget(isl::ctx context);
  ~OperationBudget();
  OperationBudget(const OperationBudget&) = delete;
  OperationBudget& operator=(const OperationBudget&) = delete;

 private:
  isl::ctx context_;
};

}  // namespace sluice::analysis
