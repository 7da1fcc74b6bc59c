// Which stretch of each sweep of a time tile is which worker's.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "schedule/plan.hpp"

namespace sluice::schedule {

// TileParts are the positions at which each part of each sweep begins. Of sweeps whose masters are
// outside the tile all parts are equal, or of several end to end those of all together. They grow
// from launch to launch as the edges ask: from its start on, a sweep needs nothing that its masters
// have before theirs. What the first worker has more so in one tile it has less in the next, which
// is swept the other way.
class TileParts {
 public:
  // `plan` outlives this object; of the tile all but its end is read.
  TileParts(const Plan& plan, const TimeTile& tile) : plan_(plan), tile_(tile) {}

  // add() finds the starts of the launch behind those that were added, from the tile's first on.
  void add(uint32_t launch);

  // starts() has one for each part, of a launch that was added.
  std::span<const uint32_t> starts(uint32_t launch) const {
    return std::span(starts_).subspan(size_t{launch - tile_.first} * tile_.parts, tile_.parts);
  }
  // longest_drift() is by how much of all sweeps end to end a part of the launch begins too late to
  // be equal.
  double longest_drift(uint32_t launch) const;

 private:
  uint32_t equal_start(const LaunchTasks& launch, uint32_t part) const;

  const Plan& plan_;
  TimeTile tile_;
  std::vector<uint32_t> starts_;
};

}  // namespace sluice::schedule
