#include "dro/edges/edge_drawing.hpp"

#include <algorithm>
#include <array>
#include <optional>
#include <tuple>
#include <utility>

#include <isl/map.h>
#include <isl/val.h>

#include "dro/edges/edge_forms.hpp"
#include "dro/edges/edge_rows.hpp"

namespace sluice::dro {
namespace {

std::optional<int64_t> integer(const isl::val& value) {
  if (value.is_null() || !yes(value.is_int())) return std::nullopt;
  return value.get_num_si();
}

// bounds() is the tight box of a set of positions; nothing where isl cannot tell.
std::optional<std::array<std::pair<int64_t, int64_t>, 3>> bounds(const isl::set& positions) {
  std::array<std::pair<int64_t, int64_t>, 3> box;
  for (int i = 0; i < 3; ++i) {
    const auto first = integer(positions.dim_min_val(i));
    const auto last = integer(positions.dim_max_val(i));
    if (!first || !last) return std::nullopt;
    box[i] = {*first, *last};
  }
  return box;
}

std::optional<BlockBox> block_box(const isl::set& blocks) {
  const auto box = bounds(blocks);
  if (!box) return std::nullopt;
  const auto& [x, y, z] = *box;
  const auto block = [](int64_t position) { return static_cast<uint32_t>(position); };
  return BlockBox{block(x.first),  block(y.first),  block(z.first),
                  block(x.second), block(y.second), block(z.second)};
}

isl::set box_set(const IslContext& context, const BlockBox& box) {
  const isl::set grid = grid_blocks(context, {box.last_x + 1, box.last_y + 1, box.last_z + 1});
  const std::array<uint32_t, 3> first = {box.first_x, box.first_y, box.first_z};
  isl::set blocks = grid;
  for (unsigned i = 0; i < 3; ++i) {
    blocks = blocks.lower_bound_si(isl::dim::set, i, static_cast<int>(first[i]));
  }
  return blocks;
}

// offsets_of() lists a small set of offsets, sorted by z, y, x; nothing where it is not small.
std::optional<std::vector<BlockOffset>> offsets_of(const isl::set& deltas) {
  const auto box = bounds(deltas);
  if (!box) return std::nullopt;
  uint64_t positions = 1;
  for (const auto& [first, last] : *box) {
    positions *= static_cast<uint64_t>(last - first + 1);
    if (positions > 16 * most_offsets) return std::nullopt;
  }
  std::vector<BlockOffset> offsets;
  const isl::stat walked = deltas.foreach_point([&](const isl::point& point) {
    const auto at = [&](int i) {
      return static_cast<int32_t>(point.coordinate_val(isl::dim::set, i).get_num_si());
    };
    offsets.push_back({at(0), at(1), at(2)});
    return offsets.size() <= most_offsets ? isl::stat::ok() : isl::stat::error();
  });
  if (!walked.is_ok()) return std::nullopt;
  std::sort(offsets.begin(), offsets.end(), [](const BlockOffset& a, const BlockOffset& b) {
    return std::tie(a.z, a.y, a.x) < std::tie(b.z, b.y, b.x);
  });
  return offsets;
}

// by_offsets() is { s -> t : t - s in deltas }.
isl::map by_offsets(const isl::map& edges, const isl::set& deltas) {
  const isl::map everywhere = isl::map::universe(edges.space());
  const isl::map difference = isl::manage(isl_map_deltas_map(everywhere.copy()));
  return difference.intersect_range(deltas).domain().unwrap();
}

bool draw_neighbours(const isl::map& edges, const isl::map& boxes, EdgeTable& table) {
  const isl::set deltas = coalesced(edges.deltas());
  auto offsets = offsets_of(deltas);
  // edges is part of the right side by construction, so the other inclusion proves equality.
  if (!offsets || !yes(by_offsets(edges, deltas).intersect(boxes).is_subset(edges))) return false;
  table.form = EdgeForm::neighbours;
  table.offsets = std::move(*offsets);
  table.edge_count = neighbour_count(table);
  return true;
}

uint64_t row_bytes(const EdgeTable& table) {
  return table.rows.size() * sizeof(uint32_t) + table.ranges.size() * sizeof(BlockRange);
}

uint64_t combine(uint64_t hash, uint64_t word) {
  return (hash ^ word) * 0x100000001b3ULL;  // FNV-1a, by words
}

uint64_t hash_of(const EdgeTable& table) {
  uint64_t hash = combine(0xcbf29ce484222325ULL, static_cast<uint64_t>(table.form));
  for (const Dim3& grid : {table.master_grid, table.slave_grid}) {
    hash = combine(combine(combine(hash, grid.x), grid.y), grid.z);
  }
  hash = combine(hash, table.edge_count);
  for (const BlockOffset& offset : table.offsets) {
    hash = combine(hash, static_cast<uint32_t>(offset.x));
    hash = combine(hash, static_cast<uint32_t>(offset.y));
  }
  for (const BlockRange& range : table.ranges) {
    hash = combine(hash, (uint64_t{range.first} << 32) | range.last);
  }
  return hash;
}

EdgeTable drawn(const IslContext& context, const isl::map& edges, const Dim3& master_grid,
                const Dim3& slave_grid) {
  EdgeTable table;
  table.master_grid = master_grid;
  table.slave_grid = slave_grid;
  const auto whole = [](const Dim3& grid) {
    return BlockBox{0, 0, 0, grid.x - 1, grid.y - 1, grid.z - 1};
  };
  const auto slave_box = block_box(edges.domain());
  const auto master_box = block_box(edges.range());
  table.slave_box = slave_box.value_or(whole(slave_grid));
  table.master_box = master_box.value_or(whole(master_grid));
  if (slave_box && master_box) {
    const isl::map boxes = isl::map::from_domain_and_range(box_set(context, table.slave_box),
                                                           box_set(context, table.master_box));
    if (!yes(boxes.is_subset(edges))) {
      if (draw_neighbours(edges, boxes, table)) return table;
      if (draw_ranges(edges, table)) {
        table.slave_box = table.master_box = {};
        return table;
      }
    }
  }
  table.form = EdgeForm::all;
  table.edge_count = box_count(table.slave_box) * box_count(table.master_box);
  return table;
}

}  // namespace

EdgeTable draw_edges(IslContext& context, const isl::map& edges, const Dim3& master_grid,
                     const Dim3& slave_grid, unsigned long budget, bool* gave_up) {
  const IslContext::Budget limit(context, budget);
  EdgeTable table = drawn(context, edges, master_grid, slave_grid);
  if (gave_up != nullptr) *gave_up = limit.is_spent();
  return table;
}

std::optional<EdgeTableId> EdgeTableStore::find(const EdgeTable& table, uint64_t hash) const {
  const auto [begin, end] = by_hash_.equal_range(hash);
  const auto known =
      std::find_if(begin, end, [&](const auto& entry) { return tables_[entry.second] == table; });
  if (known == end) return std::nullopt;
  return known->second;
}

EdgeTableId EdgeTableStore::add(EdgeTable table, bool& added) {
  added = false;
  uint64_t hash = hash_of(table);
  if (const auto known = find(table, hash)) return *known;
  const uint64_t wanted = row_bytes(table);
  if (wanted > limits_.table_bytes || bytes_ + wanted > limits_.all_bytes) {
    table = widened(std::move(table));
    hash = hash_of(table);
    if (const auto known = find(table, hash)) return *known;
  }
  const auto id = static_cast<EdgeTableId>(tables_.size());
  bytes_ += row_bytes(table);
  tables_.push_back(std::move(table));
  by_hash_.emplace(hash, id);
  added = true;
  return id;
}

}  // namespace sluice::dro
