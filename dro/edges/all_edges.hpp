// Edges between boxes: every slave block of one waits for every master block of the other.
#pragma once

#include <optional>
#include <string_view>

#include "dro/edges/blocks.hpp"
#include "dro/fields.hpp"

namespace sluice::dro {

struct AllEdges {
  static constexpr std::string_view kind = "all";
  BoxPair boxes;
  friend bool operator==(const AllEdges&, const AllEdges&) = default;

  template <class Edges>
  static std::optional<AllEdges> draw(Edges& edges) {
    const std::optional<BoxPair> boxes = edges.boxes();
    if (!boxes || !edges.has_all(*boxes)) return std::nullopt;
    return AllEdges{*boxes};
  }
  uint64_t edge_count() const { return boxes.pairs(); }
  bool fits(const Dim3& master_grid, const Dim3& slave_grid) const {
    return boxes.lies_in(master_grid, slave_grid);
  }

  template <class Visit>
  void visit(const Dim3& master_grid, const Dim3& slave_grid, uint32_t first_block,
             uint32_t block_count, Visit& visit) const {
    const BlockBox& from = boxes.slave;
    bool waits = false;
    for_each_row(slave_grid, first_block, block_count,
                 [&](uint32_t first_x, uint32_t last_x, uint32_t y, uint32_t z) {
                   waits = waits ||
                           (first_x <= from.last_x && last_x >= from.first_x && from.has_row(y, z));
                 });
    if (!waits) return;
    const BlockBox& to = boxes.master;
    RangeMerger merger(visit);
    for (uint32_t z = to.first_z; z <= to.last_z; ++z) {
      for (uint32_t y = to.first_y; y <= to.last_y; ++y) {
        merger.add(linear_block(master_grid, to.first_x, y, z),
                   linear_block(master_grid, to.last_x, y, z));
      }
    }
    merger.finish();
  }
};

template <>
inline constexpr auto members<AllEdges> = [](auto& edges, auto& member) {
  member("master_box", edges.boxes.master);
  member("slave_box", edges.boxes.slave);
};

}  // namespace sluice::dro
