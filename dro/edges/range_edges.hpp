// Edges by rows: each slave block has its list of ranges of master blocks. Any edges can be said
// so, in space that grows with the grid.
#pragma once

#include <algorithm>
#include <optional>
#include <string_view>
#include <vector>

#include "dro/edges/blocks.hpp"
#include "dro/fields.hpp"

namespace sluice::dro {

struct RangeEdges {
  static constexpr std::string_view kind = "ranges";
  std::vector<uint32_t> rows;      // one more than there are slave blocks: places in `ranges`
  std::vector<BlockRange> ranges;  // sorted and disjoint within a row
  friend bool operator==(const RangeEdges&, const RangeEdges&) = default;

  template <class Edges>
  static std::optional<RangeEdges> draw(Edges& edges) {
    return edges.rows();
  }
  uint64_t edge_count() const {
    uint64_t edges = 0;
    for (const BlockRange& range : ranges)
      edges += range.count();
    return edges;
  }
  bool fits(const Dim3& master_grid, const Dim3& slave_grid) const {
    return rows.size() == slave_grid.count() + 1 && rows.front() == 0 &&
           rows.back() == ranges.size() && std::is_sorted(rows.begin(), rows.end()) &&
           std::all_of(ranges.begin(), ranges.end(), [&](const BlockRange& range) {
             return range.first <= range.last && range.last < master_grid.count();
           });
  }
  uint64_t bytes() const {
    return rows.size() * sizeof(uint32_t) + ranges.size() * sizeof(BlockRange);
  }

  template <class Visit>
  void visit(const Dim3&, const Dim3&, uint32_t first_block, uint32_t block_count,
             Visit& visit) const {
    RangeMerger merger(visit);
    for (uint32_t i = rows[first_block]; i < rows[first_block + block_count]; ++i)
      merger.add(ranges[i].first, ranges[i].last);
    merger.finish();
  }

  // add() adds a range to the row that is open; ranges of a row come by their first blocks.
  // end_row() ends it. A first row is open once `rows` is {0}.
  void add(const BlockRange& range) {
    if (ranges.size() > rows.back() && range.first <= uint64_t{ranges.back().last} + 1) {
      ranges.back().last = std::max(ranges.back().last, range.last);
    } else {
      ranges.push_back(range);
    }
  }
  void end_row() { rows.push_back(static_cast<uint32_t>(ranges.size())); }
};

template <>
inline constexpr auto members<RangeEdges> = [](auto& edges, auto& member) {
  member("rows", edges.rows);
  member("ranges", edges.ranges);
};

}  // namespace sluice::dro
