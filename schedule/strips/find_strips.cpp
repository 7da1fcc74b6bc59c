#include "schedule/strips/find_strips.hpp"

#include <algorithm>
#include <utility>
#include <variant>

#include "base/number/divide_up.hpp"
#include "dro/edges/edge_table.hpp"
#include "schedule/buffer_set.hpp"
#include "schedule/tiles/tile_traffic.hpp"

namespace sluice::schedule {
namespace {

// Planes of a strip that lie in the cache: beside those between the first launch and the last,
// which lie one more apart than edges ask, the ones that edges reach before and behind. (One less
// between two, and a loop over 256^3 in blocks of 128 or 256 threads gains 1.2 and not 1.5.)
constexpr int64_t planes_around = 2;
constexpr int64_t planes_between = 1;
// Planes for each worker: else it would wait at the beginning of a strip for the one before it.
constexpr uint32_t least_planes = 2;

// GrowingTile is a tile of strips of so many rows, with as many launches as fit the cache.
class GrowingTile {
 public:
  GrowingTile(const Plan& plan, std::span<const Launch> launches, const Machine& machine,
              uint32_t first, uint32_t rows)
      : plan_(&plan), launches_(launches), machine_(&machine), first_(first), rows_(rows) {
    buffers_.add(launches[first].touched);
    places_.push_back({});
    while (end() < launches.size() && take()) {
    }
  }

  uint32_t end() const { return first_ + static_cast<uint32_t>(places_.size()); }

  // traffic() is how many bytes memory brings for the tile's launches: what the heaviest touches,
  // and what strips have shifted away from.
  double traffic() const {
    return most_bytes(own_launches()) * (1 + static_cast<double>(farthest_.shift) / rows_);
  }
  // share() is that of all bytes that they touch.
  double share() const { return traffic() / bytes_touched(own_launches()); }

  void add_to(Strips& strips) const {
    StripTile tile{.first = first_, .end = end(), .waits = waits_};
    const uint32_t row = grid().x;
    for (const Place& place : places_) {
      const auto whole = static_cast<uint32_t>(place.shift / rows_);
      const auto part = static_cast<uint32_t>(place.shift % rows_);
      strips.cuts.emplace_back(rows_ * row, grid().y * row, part * row);
      strips.first_strip.push_back(whole);
      tile.strips = std::max(tile.strips, whole + strips.cuts.back().tasks_in_plane());
    }
    strips.tiles.push_back(tile);
  }

 private:
  // Place is where a launch lies beside the tile's first: rows to the front, and planes behind.
  struct Place {
    int64_t shift = 0;
    int64_t lag = 0;
  };

  const Dim3& grid() const { return launches_[first_].grid; }
  std::span<const Launch> own_launches() const { return launches_.subspan(first_, places_.size()); }

  bool take() {
    const uint32_t launch = end();
    if (!(launches_[launch].grid == grid())) return false;
    Place place;
    bool waits = waits_;
    for (const Dependence& dependence : plan_->dependences_of(plan_->launches[launch])) {
      const auto* edges = std::get_if<dro::NeighbourEdges>(&dependence.edges->form);
      if (dependence.master < first_) {
        waits = waits || edges == nullptr;
        continue;
      }
      if (edges == nullptr) return false;
      place = later(place, places_[dependence.master - first_], *edges);
    }
    buffers_.add(launches_[launch].touched);
    const Place farthest{std::max(farthest_.shift, place.shift),
                         std::max(farthest_.lag, place.lag)};
    if (!fits(farthest.lag)) return false;
    farthest_ = farthest;
    places_.push_back(place);
    waits_ = waits;
    return true;
  }

  static Place later(Place place, const Place& master, const dro::NeighbourEdges& edges) {
    for (const dro::BlockOffset& offset : edges.offsets) {
      place.shift = std::max(place.shift, master.shift + offset.y);
      place.lag = std::max(place.lag, master.lag + offset.z + planes_between);
    }
    return place;
  }

  bool fits(int64_t lag) const {
    const auto planes = std::min<double>(static_cast<double>(lag + planes_around), grid().z);
    const double part = planes / grid().z * rows_ / grid().y;
    return part * static_cast<double>(buffers_.bytes()) * machine_->workers <=
           static_cast<double>(machine_->cache_bytes);
  }

  const Plan* plan_;
  std::span<const Launch> launches_;
  const Machine* machine_;
  uint32_t first_;
  uint32_t rows_;
  std::vector<Place> places_;  // by launch of the tile
  Place farthest_;
  BufferSet buffers_;
  bool waits_ = false;
};

// best_tile() is the one for which memory brings least; none where none holds two launches.
std::optional<GrowingTile> best_tile(const Plan& plan, std::span<const Launch> launches,
                                     const Machine& machine, uint32_t first) {
  std::optional<GrowingTile> best;
  const Dim3& grid = launches[first].grid;
  if (grid.z < least_planes * machine.workers) return best;
  // Smaller tasks cost workers more than they bring.
  const uint32_t least_blocks = plan.launches[first].cut.blocks_per_task;
  uint32_t before = 0;
  for (uint32_t strips = machine.workers; strips <= grid.y; ++strips) {
    const auto rows = static_cast<uint32_t>(divide_up(grid.y, strips));
    if (rows * grid.x < least_blocks) break;
    if (std::exchange(before, rows) == rows) continue;
    GrowingTile tile(plan, launches, machine, first, rows);
    if (tile.end() - first > 1 && (!best || tile.share() < best->share())) best = std::move(tile);
  }
  return best;
}

}  // namespace

std::optional<Strips> find_strips(const Plan& plan, std::span<const Launch> launches,
                                  const Machine& machine) {
  double worth = 0;
  for (const TimeTile& tile : plan.tiles)
    worth += worth_of_tile * tile_traffic(launches_of(tile, launches), tile.parts, machine);
  Strips strips;
  double traffic = 0;
  for (uint32_t first = 0; first < launches.size(); first = strips.tiles.back().end) {
    if (const std::optional<GrowingTile> tile = best_tile(plan, launches, machine, first)) {
      tile->add_to(strips);
      traffic += tile->traffic();
    } else {
      strips.tiles.push_back({first, first + 1, 0, true});
      strips.cuts.push_back(plan.launches[first].cut);
      strips.first_strip.push_back(0);
      traffic += bytes_touched(launches.subspan(first, 1));
    }
    if (traffic > worth) return std::nullopt;
  }
  return strips;
}

}  // namespace sluice::schedule
