#include "dro/edges/edge_forms.hpp"

#include <algorithm>
#include <array>
#include <optional>
#include <utility>
#include <vector>

namespace sluice::dro {
namespace {

// Rows answers the questions of drawn() by counting. Where a closed form within the boxes has as
// many edges, it has the same.
class Rows {
 public:
  Rows(EdgeTable& table, Budget& budget)
      : table_(table),
        edges_(std::get<RangeEdges>(table.form)),
        boxes_(smallest_boxes()),
        budget_(budget) {}

  const std::optional<BoxPair>& boxes() const { return boxes_; }
  bool has_all(const BoxPair& boxes) const { return boxes.pairs() == table_.edge_count; }
  bool has_each(const NeighbourEdges& edges) const {
    return edges.edge_count() == table_.edge_count;
  }
  std::optional<std::vector<BlockOffset>> offsets(size_t most) const;
  std::optional<RangeEdges> rows() { return std::move(edges_); }

 private:
  std::optional<BoxPair> smallest_boxes() const;

  EdgeTable& table_;
  RangeEdges& edges_;
  std::optional<BoxPair> boxes_;
  Budget& budget_;
};

// box_around() is the smallest box that holds blocks of linear numbers, in a step: what goes on in
// the next row or plane has all columns, or rows.
BlockBox box_around(const Dim3& grid, const BlockRange& range) {
  const auto at = [&](uint32_t block) {
    return std::array{block % grid.x, block / grid.x % grid.y, block / grid.x / grid.y};
  };
  const auto [first_x, first_y, first_z] = at(range.first);
  const auto [last_x, last_y, last_z] = at(range.last);
  const bool planes = first_z != last_z, rows = planes || first_y != last_y;
  return {rows ? 0 : first_x,         planes ? 0 : first_y,         first_z,
          rows ? grid.x - 1 : last_x, planes ? grid.y - 1 : last_y, last_z};
}

std::optional<BoxPair> Rows::smallest_boxes() const {
  std::optional<BlockBox> masters, slaves;
  const auto include = [](std::optional<BlockBox>& box, const Dim3& grid, const BlockRange& more) {
    const BlockBox around = box_around(grid, more);
    box = box ? box->joined(around) : around;
  };
  for (uint32_t slave = 0; slave + 1 < edges_.rows.size(); ++slave) {
    if (edges_.rows[slave] != edges_.rows[slave + 1])
      include(slaves, table_.slave_grid, {slave, slave});
  }
  for (const BlockRange& range : edges_.ranges)
    include(masters, table_.master_grid, range);
  if (!masters) return std::nullopt;
  return BoxPair{*masters, *slaves};
}

std::optional<std::vector<BlockOffset>> Rows::offsets(size_t most) const {
  std::vector<BlockOffset> offsets;
  const auto add = [&](const BlockOffset& offset) {
    const auto at = std::lower_bound(offsets.begin(), offsets.end(), offset);
    if (at == offsets.end() || *at != offset) offsets.insert(at, offset);
  };
  const Dim3& grid = table_.slave_grid;
  for (uint32_t slave = 0; slave + 1 < edges_.rows.size(); ++slave) {
    const uint32_t from_x = slave % grid.x, from_y = slave / grid.x % grid.y,
                   from_z = slave / grid.x / grid.y;
    for (uint32_t i = edges_.rows[slave]; i < edges_.rows[slave + 1]; ++i) {
      const BlockRange& range = edges_.ranges[i];
      // Each is looked up among at most a few hundred.
      if (range.count() > most || !budget_.take(range.count())) return std::nullopt;
      for_each_row(table_.master_grid, range.first, range.count(),
                   [&](uint32_t first_x, uint32_t last_x, uint32_t y, uint32_t z) {
                     for (uint32_t x = first_x; x <= last_x; ++x) {
                       add({static_cast<int32_t>(x - from_x), static_cast<int32_t>(y - from_y),
                            static_cast<int32_t>(z - from_z)});
                     }
                   });
      if (offsets.size() > most) return std::nullopt;
    }
  }
  return offsets;
}

}  // namespace

EdgeTable widened(EdgeTable table) {
  if (!std::holds_alternative<RangeEdges>(table.form)) return table;
  Budget none({});  // boxes take none
  const std::optional<BoxPair> boxes = Rows(table, none).boxes();
  return boxes ? make_table(table.master_grid, table.slave_grid, AllEdges{*boxes}) : table;
}

EdgeTable closed_form(EdgeTable table, Budget& budget) {
  const auto& edges = std::get<RangeEdges>(table.form);
  if (!budget.take((edges.rows.size() + edges.ranges.size()) / 4)) return table;
  Rows rows(table, budget);
  return *drawn(rows, table.master_grid, table.slave_grid);
}

}  // namespace sluice::dro
