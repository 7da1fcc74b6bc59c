// Relations from blocks to bytes, put together from single touches. Internal to the analysis.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include <isl/isl-noexceptions.h>
#include <isl/map.h>
#include <isl/set.h>

#include "analysis/kernel/access_form.hpp"
#include "analysis/polly/touch_places.hpp"
#include "analysis/rewrite/isl_allowance.hpp"
#include "analysis/shape_family.hpp"

namespace sluice::analysis {

// PlacedTouch is what is known of one touch, or several of one kind, in one launch.
struct PlacedTouch {
  uint32_t touch = 0;
  isl::map bytes;            // B[x, y, z] -> A[o]; null: any byte of the buffer
  bool exact_place = false;  // these bytes and no others
  bool certain = false;      // happens in every execution, whatever the data
  WideningReason reason;     // where it is not exact and certain
};

// blocks_of() is { B[x, y, z] } of the grids of a family, with its symbolic numbers as parameters.
isl::set blocks_of(isl::ctx context, const ShapeFamily& family);

// sloped_bytes() is the relation from those blocks to `spans`, moved by slope * block index.
isl::map sloped_bytes(isl::ctx context, const std::array<int64_t, 3>& slope,
                      const std::vector<Range>& spans, const ShapeFamily& family);

// assemble() puts the touches of each pointer slot together. Nothing where isl's operation budget
// or 64 bits do not suffice; the caller then widens.
std::optional<std::vector<ArgumentFootprint>> assemble(const AccessForm& form,
                                                       const std::vector<PlacedTouch>& touches,
                                                       const ShapeFamily& family);

inline isl_size pieces_of(const isl::set& set) {
  return isl_set_n_basic_set(set.get());
}
inline isl_size pieces_of(const isl::map& map) {
  return isl_map_n_basic_map(map.get());
}

// holds_within_budget() is what `check` finds, or false where it takes more of isl's operations
// than a check may take. Where an OperationBudget counts, no further check is made after one that
// took too long, and little is left for the rest: numbers that isl finds hard once, it finds hard
// again.
bool holds_within_budget(isl::ctx context, const std::function<bool()>& check);

// coalesced() is the same set or map in fewer pieces where isl finds them. isl's coalescing is
// checked and not trusted: with its default options it was seen to add points.
template <class Relation>
Relation coalesced(const Relation& relation) {
  const Relation fewer = relation.coalesce();
  if (pieces_of(fewer) >= pieces_of(relation)) return relation;
  const auto is_same = [&] { return fewer.is_equal(relation).is_true(); };
  return holds_within_budget(relation.ctx(), is_same) ? fewer : relation;
}

// OperationBudget lets isl spend in its lifetime what a budget has left, and charges it; past it
// isl's results are null. One at a time in each thread.
class OperationBudget {
 public:
  OperationBudget(isl::ctx context, Budget& budget);
  ~OperationBudget();
  friend bool holds_within_budget(isl::ctx context, const std::function<bool()>& check);
  OperationBudget(const OperationBudget&) = delete;
  OperationBudget& operator=(const OperationBudget&) = delete;

 private:
  // allow() charges what was spent so far, and lets isl go on for so many operations.
  void allow(unsigned long operations);
  void charge();

  isl::ctx context_;
  Budget& budget_;
  IslAllowance charged_ = isl_spent();
  bool is_hard_ = false;  // a check took too long
};

}  // namespace sluice::analysis
