#include "schedule/tiles/time_tiles.hpp"

#include <algorithm>
#include <cmath>
#include <optional>

#include "base/assert.hpp"
#include "schedule/buffer_set.hpp"
#include "schedule/task_edges.hpp"
#include "schedule/tiles/tile_parts.hpp"
#include "schedule/tiles/tile_traffic.hpp"

namespace sluice::schedule {
namespace {

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
        starts_(plan_.launches.size()) {}

  std::vector<TimeTile> find() {
    std::vector<TimeTile> tiles;
    const auto launches = static_cast<uint32_t>(plan_.launches.size());
    bool is_backward = false;
    for (uint32_t first = 0; first < launches;) {
      begin({.first = first, .parts = parts_, .is_backward = is_backward});
      tile_.end = first + 1;
      while (tile_.end < launches && take(tile_.end))
        ++tile_.end;
      tile_.slack =
          parts_ > 1 ? 0 : static_cast<uint32_t>(divide_up(machine_.workers, tile_.end - first));
      tiles.push_back(tile_);
      first = tile_.end;
      if (parts_ > 1 && has_sweep()) is_backward = !is_backward;
    }
    return tiles;
  }

 private:
  void begin(const TimeTile& tile) {
    tile_ = tile;
    longest_ = 0;
    levels_.clear();
    starts_[tile.first] = least_start(plan_.launches[tile.first]);
    if (parts_ > 1) worker_parts_.emplace(plan_, tile_).add(tile.first);
    add_buffers(tile.first);
  }

  bool take(uint32_t launch) {
    if (machine_.cache_bytes == 0) return false;
    const LaunchTasks& tasks = plan_.launches[launch];
    starts_[launch] = start_of(launch);
    if (task_count(tasks) == 1) {
      // Workers share those out that are beside no sweep.
      if (!has_sweep()) return false;
    } else {
      const double lag = starts_[launch] - begin_of(tasks, tile_);
      if (lag * parts_ > longest_lag * tasks.extent) return false;
      longest_ = std::max(longest_, lag);
      add_buffers(launch);
      // Each part has sweeps of its own between which the tile's bytes lie.
      if (longest_ * parts_ * bytes() > static_cast<double>(machine_.cache_bytes)) return false;
    }
    return takes_parts(launch);
  }

  bool has_sweep() const { return !levels_.empty(); }

  // A launch of one task touches few bytes of its buffers.
  void add_buffers(uint32_t launch) {
    const LaunchTasks& tasks = plan_.launches[launch];
    if (task_count(tasks) == 1) return;
    const double begin = begin_of(tasks, tile_);
    auto level = std::ranges::find(levels_, begin, &Level::begin);
    if (level == levels_.end()) level = levels_.insert(level, Level{begin, {}});
    level->buffers.add(launches_[launch].touched);
  }

  // bytes() is what the launches touch that are swept at one time; of those that begin at different
  // places the part of the time counts for which they are swept beside each other.
  double bytes() const {
    double most = 0;
    for (const Level& at : levels_) {
      double sum = 0;
      for (const Level& level : levels_) {
        const double beside = 1 - std::abs(level.begin - at.begin);
        sum += std::max(0.0, beside) * static_cast<double>(level.buffers.bytes());
      }
      most = std::max(most, sum);
    }
    return most;
  }

  bool takes_parts(uint32_t launch) {
    if (parts_ == 1) return true;
    worker_parts_->add(launch);
    return worker_parts_->longest_drift(launch) * parts_ <= longest_drift;
  }

  // A sweep of one task is where it ends.
  double least_start(const LaunchTasks& tasks) const {
    return task_count(tasks) == 1 ? -1 : begin_of(tasks, tile_);
  }

  // The start behind that of each master of the tile by what the edges ask, and, where workers
  // share a sweep, one task of slack.
  double start_of(uint32_t launch) const {
    const LaunchTasks& tasks = plan_.launches[launch];
    double start = least_start(tasks);
    for (const Dependence& dependence : plan_.dependences_of(tasks)) {
      if (dependence.master < tile_.first) continue;
      const uint32_t of_master = task_count(plan_.launches[dependence.master]);
      const double slack = parts_ > 1 || of_master == 1 ? 0 : 1.0 / of_master;
      const SweptEdges edges(*dependence.task_edges, tile_.is_backward);
      start = std::max(start, starts_[dependence.master] + slack + edges.lag());
    }
    return start;
  }

  // Level is what begins at one place.
  struct Level {
    double begin = 0;
    BufferSet buffers;
  };

  const Plan& plan_;
  std::span<const Launch> launches_;
  const Machine& machine_;
  const uint32_t parts_;
  std::vector<double> starts_;  // by launch, in sweeps
  TimeTile tile_;
  std::optional<TileParts> worker_parts_;
  double longest_ = 0;  // lag behind the place where a sweep begins
  std::vector<Level> levels_;
};

// without_vain() takes tiles apart that all workers share, and for which memory brings hardly less
// than for their launches one by one.
std::vector<TimeTile> without_vain(const std::vector<TimeTile>& shared,
                                   std::span<const Launch> launches, const Machine& machine) {
  std::vector<TimeTile> tiles;
  for (const TimeTile& tile : shared) {
    const std::span<const Launch> its = launches_of(tile, launches);
    if (tile_traffic(its, 1, machine) <= worth_of_tile * bytes_touched(its)) {
      tiles.push_back(tile);
      continue;
    }
    for (uint32_t launch = tile.first; launch < tile.end; ++launch)
      tiles.push_back({.first = launch, .end = launch + 1, .slack = machine.workers});
  }
  return tiles;
}

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
  return pays ? parted : without_vain(shared, launches, machine);
}

}  // namespace sluice::schedule
