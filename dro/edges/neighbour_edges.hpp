// Edges by offsets: a slave block waits for the blocks of the master's grid that lie by a fixed
// offset from its own position, where both lie in their boxes.
#pragma once

#include <algorithm>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "dro/edges/blocks.hpp"
#include "dro/fields.hpp"

namespace sluice::dro {

struct NeighbourEdges {
  static constexpr std::string_view kind = "neighbours";
  // More offsets than these cost a worker more than rows do.
  static constexpr size_t most_offsets = 128;
  BoxPair boxes;
  std::vector<BlockOffset> offsets;  // sorted: master - slave
  friend bool operator==(const NeighbourEdges&, const NeighbourEdges&) = default;

  // Every edge lies within the boxes and has one of the offsets. So where the edges have all that
  // these say, they are the same.
  template <class Edges>
  static std::optional<NeighbourEdges> draw(Edges& edges) {
    const std::optional<BoxPair> boxes = edges.boxes();
    if (!boxes) return std::nullopt;
    std::optional<std::vector<BlockOffset>> offsets = edges.offsets(most_offsets);
    if (!offsets) return std::nullopt;
    NeighbourEdges drawn{*boxes, std::move(*offsets)};
    if (!edges.has_each(drawn)) return std::nullopt;
    return drawn;
  }
  uint64_t edge_count() const {
    uint64_t edges = 0;
    for (const BlockOffset& offset : offsets) {
      const BlockBox &from = boxes.slave, &to = boxes.master;
      edges += overlap(from.first_x, from.last_x, offset.x, to.first_x, to.last_x) *
               overlap(from.first_y, from.last_y, offset.y, to.first_y, to.last_y) *
               overlap(from.first_z, from.last_z, offset.z, to.first_z, to.last_z);
    }
    return edges;
  }
  bool fits(const Dim3& master_grid, const Dim3& slave_grid) const {
    return boxes.lies_in(master_grid, slave_grid);
  }

  // visit() shifts the rows of the run by each offset; both boxes clip them. Offsets are sorted, so
  // those of one row of masters follow each other and merge. Of several rows whole ones are taken
  // between the first and the last.
  template <class Visit>
  void visit(const Dim3& master_grid, const Dim3& slave_grid, uint32_t first_block,
             uint32_t block_count, Visit& visit) const {
    const BlockBox &from = boxes.slave, &to = boxes.master;
    for_each_rows(slave_grid, first_block, block_count,
                  [&](int64_t first_x, int64_t last_x, int64_t first_y, int64_t last_y, int64_t z) {
                    first_x = std::max<int64_t>(first_x, from.first_x);
                    last_x = std::min<int64_t>(last_x, from.last_x);
                    first_y = std::max<int64_t>(first_y, from.first_y);
                    last_y = std::min<int64_t>(last_y, from.last_y);
                    if (first_x > last_x || first_y > last_y || !from.has_plane(z)) return;
                    RangeMerger merger(visit);
                    for (const BlockOffset& offset : offsets) {
                      const int64_t left = std::max<int64_t>(first_x + offset.x, to.first_x);
                      const int64_t right = std::min<int64_t>(last_x + offset.x, to.last_x);
                      const int64_t top = std::max<int64_t>(first_y + offset.y, to.first_y);
                      const int64_t bottom = std::min<int64_t>(last_y + offset.y, to.last_y);
                      if (left > right || top > bottom || !to.has_plane(z + offset.z)) continue;
                      const auto block = [&](int64_t x, int64_t y) {
                        return linear_block(master_grid, static_cast<uint32_t>(x),
                                            static_cast<uint32_t>(y),
                                            static_cast<uint32_t>(z + offset.z));
                      };
                      merger.add(block(left, top), block(right, bottom));
                    }
                    merger.finish();
                  });
  }

 private:
  // overlap() counts the positions s of [first, last] with s + shift in [to_first, to_last].
  static uint64_t overlap(int64_t first, int64_t last, int64_t shift, int64_t to_first,
                          int64_t to_last) {
    const int64_t begin = std::max(first, to_first - shift);
    const int64_t end = std::min(last, to_last - shift);
    return begin <= end ? static_cast<uint64_t>(end - begin + 1) : 0;
  }
};

template <>
inline constexpr auto members<NeighbourEdges> = [](auto& edges, auto& member) {
  member("master_box", edges.boxes.master);
  member("slave_box", edges.boxes.slave);
  member("offsets", edges.offsets);
};

}  // namespace sluice::dro
