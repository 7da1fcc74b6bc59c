#include "schedule/time_tiles.hpp"

#include <algorithm>
#include <optional>

#include "base/assert.hpp"
#include "schedule/buffer_set.hpp"
#include "schedule/task_edges.hpp"
#include "schedule/tile_parts.hpp"

namespace sluice::schedule {
namespace {

// A slave that far behind leaves nothing to be shared with the end of its master's sweep.
constexpr double longest_lag = 0.75;
// By how much of its length a part may move over a tile: more, and a worker would wait at the end
// of one tile for the other's beginning of the next.
constexpr double longest_drift = 0.5;
// By what factor more tiles are worth it that workers do not share.
constexpr size_t worth_of_parts = 2;

// TileFinder grows one tile at a time.
class TileFinder {
 public:
  TileFinder(const Plan& plan, std::span<const Launch> launches, const Machine& machine,
             uint32_t parts)
      : plan_(plan),
        launches_(launches),
        machine_(machine),
        parts_(parts),
        lags_(plan_.launches.size()) {}

  std::vector<TimeTile> find() {
    std::vector<TimeTile> tiles;
    const auto launches = static_cast<uint32_t>(plan_.launches.size());
    for (uint32_t first = 0; first < launches;) {
      begin({.first = first, .parts = parts_, .is_backward = parts_ > 1 && tiles.size() % 2 == 1});
      tile_.end = first + 1;
      while (tile_.end < launches && take(tile_.end))
        ++tile_.end;
      if (tile_.end < launches) part_from_small(tile_.end);
      tile_.slack =
          parts_ > 1 ? 0 : static_cast<uint32_t>(divide_up(machine_.workers, tile_.end - first));
      tiles.push_back(tile_);
      first = tile_.end;
    }
    return tiles;
  }

 private:
  void begin(const TimeTile& tile) {
    tile_ = tile;
    longest_ = lags_[tile.first] = 0;
    buffers_.shrink(0);
    buffers_.add(launches_[tile.first].touched);
    if (parts_ > 1) starts_.emplace(plan_, tile_).add(tile.first);
  }

  bool take(uint32_t launch) {
    if (machine_.cache_bytes == 0) return false;
    const double own_lag = lag_of(launch);
    const double lag = std::max(longest_, own_lag);
    if (lag * parts_ > longest_lag) return false;
    const size_t known = buffers_.size();
    buffers_.add(launches_[launch].touched);
    // Each part has sweeps of its own between which the tile's bytes lie.
    const double between = lag * parts_ * static_cast<double>(buffers_.bytes());
    if (between > static_cast<double>(machine_.cache_bytes) || !takes_parts(launch)) {
      buffers_.shrink(known);
      return false;
    }
    lags_[launch] = own_lag;
    longest_ = lag;
    return true;
  }

  // part_from_small() ends the tile behind the launches of one task that it begins with, where the
  // launch that it could not take waits for them: that may then share a tile with the others.
  void part_from_small(uint32_t launch) {
    uint32_t end = tile_.first;
    while (end < tile_.end && task_count(plan_.launches[end]) == 1)
      ++end;
    const auto is_small = [&](const Dependence& dependence) {
      return dependence.master >= tile_.first && dependence.master < end;
    };
    if (std::ranges::any_of(plan_.dependences_of(plan_.launches[launch]), is_small))
      tile_.end = end;
  }

  bool takes_parts(uint32_t launch) {
    if (parts_ == 1) return true;
    starts_->add(launch);
    if (starts_->longest_drift(launch) * parts_ <= longest_drift) return true;
    starts_->remove_last();
    return false;
  }

  // The lag behind the tile's first sweep: behind each master of the tile by what the edges ask,
  // and, where workers share a sweep, one task of slack.
  double lag_of(uint32_t launch) {
    double lag = 0;
    for (const Dependence& dependence : plan_.dependences_of(plan_.launches[launch])) {
      if (dependence.master < tile_.first) continue;
      const double slack = parts_ > 1 ? 0 : 1.0 / task_count(plan_.launches[dependence.master]);
      const SweptEdges edges(*dependence.task_edges, tile_.is_backward);
      lag = std::max(lag, lags_[dependence.master] + slack + edges.lag());
    }
    return lag;
  }

  const Plan& plan_;
  std::span<const Launch> launches_;
  const Machine& machine_;
  const uint32_t parts_;
  std::vector<double> lags_;  // by launch, behind the first sweep of its tile
  TimeTile tile_;
  std::optional<TileParts> starts_;
  double longest_ = 0;
  BufferSet buffers_;
};

}  // namespace

std::vector<TimeTile> find_time_tiles(const Plan& plan, std::span<const Launch> launches,
                                      const Machine& machine) {
  SLUICE_ASSERT(launches.size() == plan.launches.size());
  std::vector<TimeTile> shared = TileFinder(plan, launches, machine, 1).find();
  // Tiles of one launch each are shared out task by task, whatever the tasks take.
  if (!machine.on_host || machine.workers == 1 || shared.size() == launches.size()) return shared;
  std::vector<TimeTile> parted = TileFinder(plan, launches, machine, machine.workers).find();
  const bool pays =
      parted.size() < launches.size() && parted.size() <= worth_of_parts * shared.size();
  return pays ? parted : shared;
}

}  // namespace sluice::schedule
