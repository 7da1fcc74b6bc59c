#include "dro/edges/edge_forms.hpp"

#include <algorithm>
#include <optional>
#include <tuple>
#include <utility>

namespace sluice::dro {
namespace {

// overlap() counts the positions s of [first, last] with s + shift in [to_first, to_last].
uint64_t overlap(int64_t first, int64_t last, int64_t shift, int64_t to_first, int64_t to_last) {
  const int64_t begin = std::max(first, to_first - shift);
  const int64_t end = std::min(last, to_last - shift);
  return begin <= end ? static_cast<uint64_t>(end - begin + 1) : 0;
}

bool comes_before(const BlockOffset& a, const BlockOffset& b) {
  return std::tie(a.z, a.y, a.x) < std::tie(b.z, b.y, b.x);
}

// Place is a block's position, and how many blocks of its row follow it, itself included.
struct Place {
  uint32_t x, y, z, rest;
};

Place place_of(const Dim3& grid, uint32_t block) {
  const uint32_t x = block % grid.x;
  return {x, block / grid.x % grid.y, block / grid.x / grid.y, grid.x - x};
}

void include(BlockBox& box, const Place& place, uint32_t last_x, bool& any) {
  if (!std::exchange(any, true)) {
    box = {place.x, place.y, place.z, last_x, place.y, place.z};
    return;
  }
  box = {std::min(box.first_x, place.x), std::min(box.first_y, place.y),
         std::min(box.first_z, place.z), std::max(box.last_x, last_x),
         std::max(box.last_y, place.y),  std::max(box.last_z, place.z)};
}

// for_each_row_of() cuts a range of blocks into rows: row(place, last_x).
template <class Row>
void for_each_row_of(const Dim3& grid, const BlockRange& range, Row&& row) {
  for (uint64_t block = range.first; block <= range.last;) {
    const Place place = place_of(grid, static_cast<uint32_t>(block));
    const uint64_t count = std::min<uint64_t>(place.rest, range.last - block + 1);
    row(place, static_cast<uint32_t>(place.x + count - 1));
    block += count;
  }
}

void find_boxes(EdgeTable& table) {
  bool any_slave = false;
  bool any_master = false;
  for (uint32_t slave = 0; slave + 1 < table.rows.size(); ++slave) {
    if (table.rows[slave] == table.rows[slave + 1]) continue;
    const Place place = place_of(table.slave_grid, slave);
    include(table.slave_box, place, place.x, any_slave);
  }
  for (const BlockRange& range : table.ranges) {
    for_each_row_of(table.master_grid, range, [&](const Place& place, uint32_t last_x) {
      include(table.master_box, place, last_x, any_master);
    });
  }
}

// offsets_of() lists the offsets of all edges, sorted; nothing where there are too many.
std::optional<std::vector<BlockOffset>> offsets_of(const EdgeTable& table) {
  std::vector<BlockOffset> offsets;
  for (uint32_t slave = 0; slave + 1 < table.rows.size(); ++slave) {
    const Place from = place_of(table.slave_grid, slave);
    for (uint32_t i = table.rows[slave]; i < table.rows[slave + 1]; ++i) {
      if (table.ranges[i].last - table.ranges[i].first >= most_offsets) return std::nullopt;
      for_each_row_of(table.master_grid, table.ranges[i], [&](const Place& to, uint32_t last_x) {
        for (uint32_t x = to.x; x <= last_x; ++x) {
          const BlockOffset offset = {static_cast<int32_t>(x - from.x),
                                      static_cast<int32_t>(to.y - from.y),
                                      static_cast<int32_t>(to.z - from.z)};
          const auto at = std::lower_bound(offsets.begin(), offsets.end(), offset, comes_before);
          if (at == offsets.end() || *at != offset) offsets.insert(at, offset);
        }
      });
      if (offsets.size() > most_offsets) return std::nullopt;
    }
  }
  return offsets;
}

}  // namespace

uint64_t box_count(const BlockBox& box) {
  return uint64_t{box.last_x - box.first_x + 1} * (box.last_y - box.first_y + 1) *
         (box.last_z - box.first_z + 1);
}

uint64_t neighbour_count(const EdgeTable& table) {
  const BlockBox& from = table.slave_box;
  const BlockBox& to = table.master_box;
  uint64_t edges = 0;
  for (const BlockOffset& offset : table.offsets) {
    edges += overlap(from.first_x, from.last_x, offset.x, to.first_x, to.last_x) *
             overlap(from.first_y, from.last_y, offset.y, to.first_y, to.last_y) *
             overlap(from.first_z, from.last_z, offset.z, to.first_z, to.last_z);
  }
  return edges;
}

EdgeTable widened(EdgeTable table) {
  if (table.form != EdgeForm::ranges || table.ranges.empty()) return table;
  find_boxes(table);
  table.form = EdgeForm::all;
  table.rows = {};
  table.ranges = {};
  table.edge_count = box_count(table.slave_box) * box_count(table.master_box);
  return table;
}

// Every edge lies within the boxes, and is one of the offsets. So where a closed form has as many
// edges, it has the same.
EdgeTable closed_form(EdgeTable table) {
  EdgeTable closed;
  closed.master_grid = table.master_grid;
  closed.slave_grid = table.slave_grid;
  closed.edge_count = table.edge_count;
  find_boxes(table);
  closed.slave_box = std::exchange(table.slave_box, {});
  closed.master_box = std::exchange(table.master_box, {});
  if (box_count(closed.slave_box) * box_count(closed.master_box) == table.edge_count) {
    closed.form = EdgeForm::all;
    return closed;
  }
  if (auto offsets = offsets_of(table)) {
    closed.form = EdgeForm::neighbours;
    closed.offsets = std::move(*offsets);
    if (neighbour_count(closed) == table.edge_count) return closed;
  }
  return table;
}

}  // namespace sluice::dro
