#include "dro/edges/edge_drawing.hpp"

#include <algorithm>
#include <array>
#include <optional>
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

// by_offsets() is { s -> t : t - s in deltas }.
isl::map by_offsets(const isl::map& edges, const isl::set& deltas) {
  const isl::map everywhere = isl::map::universe(edges.space());
  const isl::map difference = isl::manage(isl_map_deltas_map(everywhere.copy()));
  return difference.intersect_range(deltas).domain().unwrap();
}

// IslEdges answers the questions of drawn() by isl.
class IslEdges {
 public:
  IslEdges(const IslContext& context, const isl::map& edges, const Dim3& master_grid,
           const Dim3& slave_grid, Budget& budget)
      : edges_(edges), master_grid_(master_grid), slave_grid_(slave_grid), budget_(budget) {
    around_ = {BlockBox::of_grid(master_grid), BlockBox::of_grid(slave_grid)};
    if (edges.is_null()) return;
    const auto master_box = block_box(edges.range());
    const auto slave_box = block_box(edges.domain());
    around_ = {master_box.value_or(BlockBox::of_grid(master_grid)),
               slave_box.value_or(BlockBox::of_grid(slave_grid))};
    is_bounded_ = slave_box && master_box;
    if (!is_bounded_) return;
    all_ = isl::map::from_domain_and_range(box_set(context, around_.slave),
                                           box_set(context, around_.master));
  }

  // around() holds every edge, with whole grids where isl could not tell.
  const BoxPair& around() const { return around_; }
  std::optional<BoxPair> boxes() const {
    return is_bounded_ ? std::optional(around_) : std::nullopt;
  }
  bool has_all(const BoxPair&) const { return yes(all_.is_subset(edges_)); }
  std::optional<std::vector<BlockOffset>> offsets(size_t most);
  // The edges are among those of the offsets by construction, so one inclusion proves equality.
  bool has_each(const NeighbourEdges&) const {
    return yes(by_offsets(edges_, deltas_).intersect(all_).is_subset(edges_));
  }
  std::optional<RangeEdges> rows() const {
    if (!is_bounded_) return std::nullopt;
    return draw_ranges(edges_, master_grid_, slave_grid_, budget_);
  }

 private:
  const isl::map& edges_;
  const Dim3 master_grid_, slave_grid_;
  Budget& budget_;
  BoxPair around_;
  bool is_bounded_ = false;
  isl::map all_;     // all edges between the boxes
  isl::set deltas_;  // master - slave
};

std::optional<std::vector<BlockOffset>> IslEdges::offsets(size_t most) {
  deltas_ = coalesced(edges_.deltas());
  const auto box = bounds(deltas_);
  if (!box) return std::nullopt;
  uint64_t positions = 1;
  for (const auto& [first, last] : *box) {
    positions *= static_cast<uint64_t>(last - first + 1);
    if (positions > 16 * most) return std::nullopt;
  }
  std::vector<BlockOffset> offsets;
  const isl::stat walked = deltas_.foreach_point([&](const isl::point& point) {
    const auto at = [&](int i) {
      return static_cast<int32_t>(point.coordinate_val(isl::dim::set, i).get_num_si());
    };
    offsets.push_back({at(0), at(1), at(2)});
    return offsets.size() <= most ? isl::stat::ok() : isl::stat::error();
  });
  if (!walked.is_ok()) return std::nullopt;
  std::sort(offsets.begin(), offsets.end());
  return offsets;
}

constexpr uint64_t bytes_a_step = 64;

uint64_t row_bytes(const EdgeTable& table) {
  const auto* rows = std::get_if<RangeEdges>(&table.form);
  return rows == nullptr ? 0 : rows->bytes();
}

}  // namespace

EdgeTable draw_edges(const IslContext& context, const isl::map& edges, const Dim3& master_grid,
                     const Dim3& slave_grid, Budget& budget) {
  const IslWork work(context, budget);
  IslEdges questions(context, edges, master_grid, slave_grid, budget);
  auto table = drawn(questions, master_grid, slave_grid);
  return table ? std::move(*table)
               : make_table(master_grid, slave_grid, AllEdges{questions.around()});
}

EdgeTableId EdgeTableStore::add(EdgeTable table, bool& added, Budget& budget) {
  const uint64_t wanted = row_bytes(table);
  // Finding an equal table takes a look at all of it, twice.
  const bool is_dear = !budget.take(1 + wanted / bytes_a_step);
  const bool too_large = wanted > limits_.table_bytes || bytes_ + wanted > limits_.all_bytes;
  if (is_dear || (too_large && !ids_.contains(table))) table = widened(std::move(table));
  const auto id = static_cast<EdgeTableId>(tables_.size());
  const auto [place, is_new] = ids_.try_emplace(std::move(table), id);
  added = is_new;
  if (is_new) {
    bytes_ += row_bytes(place->first);
    tables_.push_back(&place->first);
  }
  return place->second;
}

}  // namespace sluice::dro
