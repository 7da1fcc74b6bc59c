#include "dro/strides/stride_bands.hpp"

#include <algorithm>
#include <set>
#include <utility>
#include <vector>

#include "base/number/floor_divide.hpp"
#include "dro/boxes/box_product.hpp"

namespace sluice::dro {
namespace {

// Band is all pairs of a slave and a master of these whose offset, master - slave, is one of these.
// Each slave and each master of it is in a pair.
struct Band {
  Interval slaves;
  Interval masters;
  Interval offsets;
};

bool holds(const Interval& a, const Interval& b) {
  return a.first <= b.first && b.last <= a.last;
}

// all_offsets() is from the last slave to the first master, and the other way round.
Interval all_offsets(const Interval& slaves, const Interval& masters) {
  return {masters.first - slaves.last, masters.last - slaves.first};
}

// from() is the slaves of an offset whose master is one of the masters.
Interval from(const Interval& slaves, const Interval& masters, int64_t offset) {
  return {std::max(slaves.first, masters.first - offset),
          std::min(slaves.last, masters.last - offset)};
}

Interval blocks_of(int64_t start, int64_t positions, int64_t block) {
  return {start / block, (start + positions - 1) / block};
}

// repeat() has blocks follow each other that do the same each; false where it is another pattern.
bool repeat(Interval& blocks, int64_t count) {
  if (blocks.first != blocks.last) return false;
  blocks.last += count - 1;
  return true;
}

// band_of() is nothing where a part is no band. Blocks that share out positions wait for those that
// share out as many at a few offsets; a block that has the whole run waits for all of the masters,
// and all slaves for it.
std::optional<Band> band_of(const StridedPart& part) {
  Band band;
  band.slaves = blocks_of(part.slave_start, part.length, part.slave_block);
  band.masters = blocks_of(part.master_start, part.length + part.reach, part.master_block);
  const bool has_run =
      band.slaves.first == band.slaves.last || band.masters.first == band.masters.last;
  for (const EdgeLevel& level : part.levels) {
    const bool by_slaves = level.slave_stride == part.slave_block && level.master_stride == 0;
    const bool by_masters = level.slave_stride == 0 && level.master_stride == part.master_block;
    if (by_slaves == by_masters || !repeat(by_slaves ? band.slaves : band.masters, level.count))
      return std::nullopt;
  }
  band.offsets = all_offsets(band.slaves, band.masters);
  if (has_run) return band;
  if (!part.levels.empty() || part.slave_block != part.master_block) return std::nullopt;
  const int64_t ahead = part.master_start - part.slave_start;
  const int64_t last = ahead + part.slave_block - 1 + part.reach;
  band.offsets = {std::max(band.offsets.first, floor_divide(ahead, part.slave_block)),
                  std::min(band.offsets.last, floor_divide(last, part.slave_block))};
  return band;
}

std::optional<std::vector<Band>> bands_of(const StridedEdges& edges) {
  std::vector<Band> bands;
  for (const StridedPart& part : edges.parts) {
    const auto band = band_of(part);
    if (!band) return std::nullopt;
    bands.push_back(*band);
  }
  return bands;
}

BlockBox block_box(const Interval& blocks) {
  return {static_cast<uint32_t>(blocks.first), 0, 0, static_cast<uint32_t>(blocks.last), 0, 0};
}

// offsets_of() is nothing where there are too many.
std::optional<std::set<int64_t>> offsets_of(const std::vector<Band>& bands) {
  std::set<int64_t> offsets;
  for (const Band& band : bands) {
    if (band.offsets.last - band.offsets.first >= int64_t{NeighbourEdges::most_offsets})
      return std::nullopt;
    for (int64_t offset = band.offsets.first; offset <= band.offsets.last; ++offset)
      offsets.insert(offset);
  }
  if (offsets.size() > NeighbourEdges::most_offsets) return std::nullopt;
  return offsets;
}

// shows() is whether a band has all edges of an offset between these.
bool shows(const Band& band, const Interval& slaves, const Interval& masters, int64_t offset) {
  const Interval all = from(slaves, masters, offset);
  return holds(band.offsets, {offset, offset}) &&
         (all.empty() || (holds(band.slaves, all) &&
                          holds(band.masters, {all.first + offset, all.last + offset})));
}

}  // namespace

std::optional<EdgeForm> banded_form(const StridedEdges& edges) {
  const auto bands = bands_of(edges);
  if (!bands || bands->empty()) return std::nullopt;
  Interval slaves, masters;
  for (const Band& band : *bands) {
    slaves = joined(slaves, band.slaves);
    masters = joined(masters, band.masters);
  }
  const BoxPair boxes{block_box(masters), block_box(slaves)};
  const Interval all = all_offsets(slaves, masters);
  const auto has_all = [&](const Band& band) {
    return holds(band.slaves, slaves) && holds(band.masters, masters) && holds(band.offsets, all);
  };
  if (std::ranges::any_of(*bands, has_all)) return AllEdges{boxes};
  const auto offsets = offsets_of(*bands);
  if (!offsets) return std::nullopt;
  NeighbourEdges neighbours{boxes, {}};
  for (const int64_t offset : *offsets) {
    const bool is_shown = std::ranges::any_of(
        *bands, [&](const Band& band) { return shows(band, slaves, masters, offset); });
    if (!is_shown) return std::nullopt;
    neighbours.offsets.push_back({static_cast<int32_t>(offset), 0, 0});
  }
  if (neighbours.edge_count() == boxes.pairs()) return AllEdges{boxes};
  return neighbours;
}

}  // namespace sluice::dro
