#include "dro/strides/stride_edges.hpp"

#include <algorithm>
#include <tuple>
#include <utility>

#include "dro/edges/edge_forms.hpp"
#include "dro/strides/stride_bands.hpp"
#include "dro/strides/stride_meeting.hpp"

namespace sluice::dro {
namespace {

// So many looks at a part, or ranges, are a step.
constexpr uint64_t looks_a_step = 8;
// Parts must say the same in so much less space than rows.
constexpr uint64_t times_smaller = 2;
// Rows of more slave blocks are not made to see what closed form is in them, where parts say it
// in a thousandth of the space.
constexpr uint64_t most_rows = 8192;
constexpr uint64_t times_smaller_unseen = 1000;

bool comes_before(const StridedPart& a, const StridedPart& b) {
  const auto key = [](const StridedPart& part) {
    std::vector<int64_t> levels;
    for (const EdgeLevel& level : part.levels)
      levels.insert(levels.end(), {level.count, level.slave_stride, level.master_stride});
    return std::tuple(part.slave_block, part.master_block, part.length, part.slave_start,
                      std::move(levels), part.master_start, part.reach);
  };
  return key(a) < key(b);
}

bool same_slaves(const StridedPart& a, const StridedPart& b) {
  return a.slave_block == b.slave_block && a.master_block == b.master_block &&
         a.length == b.length && a.slave_start == b.slave_start && a.levels == b.levels;
}

// joined() makes one of parts whose masters lie side by side, as those of a stencil's columns do.
// Between them are less positions than a block has, so no block is added.
std::vector<StridedPart> joined(std::vector<StridedPart> parts) {
  std::ranges::sort(parts, comes_before);
  std::vector<StridedPart> kept;
  for (StridedPart& part : parts) {
    if (!kept.empty() && same_slaves(kept.back(), part)) {
      StridedPart& before = kept.back();
      const int64_t end = before.master_start + before.reach;
      if (part.master_start <= end + part.master_block) {
        before.reach = std::max(end, part.master_start + part.reach) - before.master_start;
        continue;
      }
    }
    kept.push_back(std::move(part));
  }
  return kept;
}

// as_rows() lists the masters of each block; nothing past the budget.
std::optional<RangeEdges> as_rows(const StridedEdges& edges, uint64_t slaves, Budget& budget) {
  const uint64_t looks = edges.parts.size() * slaves;
  if (!budget.make<uint32_t>(slaves + 1, looks_a_step) || !budget.take(looks / looks_a_step) ||
      !budget.make<BlockRange>(edges.visits(), looks_a_step / 2)) {
    return std::nullopt;
  }
  return edges.rows(slaves);
}

// has_two_paces() is whether masters go by faster or slower than slaves, so that ever other offsets
// come: rows would show no closed form.
bool has_two_paces(const StridedPart& part) {
  const auto blocks = [&](int64_t block) { return part.length / block; };
  constexpr int64_t most = NeighbourEdges::most_offsets;
  return part.levels.empty() && part.slave_block != part.master_block &&
         std::min(blocks(part.slave_block), blocks(part.master_block)) > 2 * most;
}

// parts_of() finds where all meetings meet.
std::optional<std::vector<StridedPart>> parts_of(const std::vector<StrideMeeting>& meetings,
                                                 Budget& budget) {
  std::vector<StridedPart> found;
  for (const StrideMeeting& meeting : meetings) {
    std::optional<Strides> live;
    if (meeting.live != nullptr) {
      live = within(*meeting.earlier, *meeting.live, budget);
      if (!live) return std::nullopt;
    }
    for (const BlockStrides& later : *meeting.later) {
      for (const BlockStrides& earlier : live ? *live : *meeting.earlier) {
        if (!meet(later, earlier, budget, found)) return std::nullopt;
      }
    }
  }
  return joined(std::move(found));
}

bool are_too_many_rows(const StridedEdges& edges, const Dim3& slave_grid) {
  const uint64_t rows = slave_grid.count();
  return rows > most_rows && times_smaller_unseen * edges.bytes() <= rows * sizeof(BlockRange);
}

// shown_table() is the edges in a form that the parts show by themselves; `as_they_are`: else in
// parts, of which the edges of each block are counted.
std::optional<EdgeTable> shown_table(const StridedEdges& edges, bool as_they_are,
                                     const Dim3& master_grid, const Dim3& slave_grid,
                                     Budget& budget) {
  if (auto form = banded_form(edges)) return make_table(master_grid, slave_grid, std::move(*form));
  if (!as_they_are && !std::ranges::any_of(edges.parts, has_two_paces)) return std::nullopt;
  if (!budget.take(edges.parts.size() * edges.slaves() / looks_a_step)) return std::nullopt;
  return make_table(master_grid, slave_grid, edges);
}

}  // namespace

std::optional<StridedEdges> strided_edges(const std::vector<StrideMeeting>& meetings,
                                          const Dim3& master_grid, const Dim3& slave_grid,
                                          Budget& budget) {
  auto parts = parts_of(meetings, budget);
  if (!parts || parts->empty()) return std::nullopt;
  StridedEdges edges{std::move(*parts)};
  if (!edges.fits(master_grid, slave_grid)) return std::nullopt;
  return edges;
}

std::optional<EdgeTable> shown_edges(const std::vector<StrideMeeting>& meetings,
                                     const Dim3& master_grid, const Dim3& slave_grid,
                                     Budget& budget) {
  auto edges = strided_edges(meetings, master_grid, slave_grid, budget);
  if (!edges) return std::nullopt;
  // Where all of the earlier accesses count, boxes may say more.
  const bool is_partial = std::ranges::any_of(
      meetings, [](const StrideMeeting& meeting) { return meeting.live != nullptr; });
  const bool as_they_are = is_partial && are_too_many_rows(*edges, slave_grid);
  return shown_table(*edges, as_they_are, master_grid, slave_grid, budget);
}

std::optional<EdgeTable> stride_edges(const std::vector<StrideMeeting>& meetings,
                                      const Dim3& master_grid, const Dim3& slave_grid,
                                      Budget& budget) {
  auto edges = strided_edges(meetings, master_grid, slave_grid, budget);
  if (!edges) return std::nullopt;
  const bool as_they_are = are_too_many_rows(*edges, slave_grid);
  if (auto shown = shown_table(*edges, as_they_are, master_grid, slave_grid, budget)) return shown;
  auto rows = as_rows(*edges, slave_grid.count(), budget);
  if (!rows) return std::nullopt;
  EdgeTable table = closed_form(make_table(master_grid, slave_grid, std::move(*rows)), budget);
  const auto* ranges = std::get_if<RangeEdges>(&table.form);
  if (ranges != nullptr && times_smaller * edges->bytes() <= ranges->bytes())
    table.form = std::move(*edges);
  return table;
}

}  // namespace sluice::dro
