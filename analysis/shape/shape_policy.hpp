// Which launches get an analysis of their own, and which share one. Internal to the analysis.
#pragma once

#include <deque>
#include <list>
#include <optional>
#include <set>
#include <vector>

#include "analysis/shape/footprint_maker.hpp"
#include "analysis/symbolic_footprint.hpp"

namespace sluice::analysis {

// ShapePolicy answers for the launches of one kernel. A shape like none before is analysed as it
// is. Where a shape differs from an earlier one in a few numbers, these are tried as symbols, over
// a range that both lie well within; if nothing of the earlier footprint is lost by it, the
// symbolic footprint serves all shapes of its family. What was tried in vain is not tried again.
// The answers depend on the sequence of shapes alone. Not thread-safe.
class ShapePolicy {
 public:
  explicit ShapePolicy(FootprintMaker& maker) : maker_(maker) {}

  Footprint footprint(const LaunchShape& shape);
  // family() is the one that the last footprint() is of; null: of that shape alone.
  const ShapeFamily* family() const {
    return is_of_family_ ? &families_.front().family() : nullptr;
  }

  // analyses() counts the runs of the analysis so far.
  uint64_t analyses() const { return analyses_; }

 private:
  using Numbers = std::vector<ShapeNumber>;

  Footprint answer(const LaunchShape& shape);
  std::optional<Footprint> symbolic(const Footprint& example, const LaunchShape& shape,
                                    const Numbers& numbers, const std::optional<Footprint>& own);
  static Numbers with_all_extents(const Numbers& numbers, const LaunchShape& a,
                                  const LaunchShape& b);
  Footprint specialised(const LaunchShape& shape);
  Footprint* nearest(const LaunchShape& shape, Numbers& difference);
  bool can_be_symbolic(ShapeNumber number) const;
  uint32_t bytes_of(ShapeNumber number) const;
  bool is_within(const ShapeFamily& family, const LaunchShape& shape) const;
  ShapeFamily family_of(const LaunchShape& a, const LaunchShape& b, const Numbers& numbers) const;

  FootprintMaker& maker_;
  std::list<SymbolicFootprint> families_;  // the last one used first
  std::deque<Footprint> examples_;         // specialised ones, the latest first
  std::set<Numbers> refused_;
  bool is_of_family_ = false;
  uint64_t analyses_ = 0;
};

}  // namespace sluice::analysis
