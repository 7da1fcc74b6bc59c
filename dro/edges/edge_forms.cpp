#include "dro/edges/edge_forms.hpp"

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

namespace sluice::dro {
namespace {

// Rows answers the questions of drawn() by counting. Where a closed form within the boxes has as
// many edges, it has the same.
class Rows {
 public:
  explicit Rows(EdgeTable& table)
      : table_(table), edges_(std::get<RangeEdges>(table.form)), boxes_(smallest_boxes()) {}

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
};

std::optional<BoxPair> Rows::smallest_boxes() const {
  std::optional<BlockBox> masters, slaves;
  const auto include = [](std::optional<BlockBox>& box, const Dim3& grid, uint32_t first,
                          uint64_t count) {
    for_each_row(grid, first, count,
                 [&](uint32_t first_x, uint32_t last_x, uint32_t y, uint32_t z) {
                   const BlockBox row = {first_x, y, z, last_x, y, z};
                   box = box ? box->joined(row) : row;
                 });
  };
  for (uint32_t slave = 0; slave + 1 < edges_.rows.size(); ++slave) {
    if (edges_.rows[slave] != edges_.rows[slave + 1]) include(slaves, table_.slave_grid, slave, 1);
  }
  for (const BlockRange& range : edges_.ranges)
    include(masters, table_.master_grid, range.first, range.count());
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
      if (range.count() > most) return std::nullopt;
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
  const std::optional<BoxPair> boxes = Rows(table).boxes();
  return boxes ? make_table(table.master_grid, table.slave_grid, AllEdges{*boxes}) : table;
}

EdgeTable closed_form(EdgeTable table) {
  Rows rows(table);
  return *drawn(rows, table.master_grid, table.slave_grid);
}

}  // namespace sluice::dro
