// Edges of rows of blocks whose threads are numbered through rows and planes: the masters of a
// slave block are a few ranges, found by a division for each, so a million blocks need no million
// rows.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "base/dim3.hpp"
#include "dro/edges/blocks.hpp"
#include "dro/edges/range_edges.hpp"
#include "dro/fields.hpp"

namespace sluice::dro {

// EdgeLevel repeats what is within it, each time so many positions further on either side.
struct EdgeLevel {
  int64_t count = 1;
  int64_t slave_stride = 0;
  int64_t master_stride = 0;
  friend bool operator==(const EdgeLevel&, const EdgeLevel&) = default;
};

// StridedPart is a part of the edges. Blocks of either side share out positions, so many to each. A
// run of `length` positions of the slave begins at slave_start; each position waits for that of the
// master as far from master_start, and for `reach` more behind it. So do all its repetitions.
struct StridedPart {
  int64_t slave_start = 0;
  int64_t slave_block = 1;
  int64_t master_start = 0;
  int64_t master_block = 1;
  int64_t length = 0;
  int64_t reach = 0;
  std::vector<EdgeLevel> levels;
  friend bool operator==(const StridedPart&, const StridedPart&) = default;
};

template <>
inline constexpr auto elements<EdgeLevel> =
    [](auto& level) { return std::tie(level.count, level.slave_stride, level.master_stride); };
template <>
inline constexpr auto elements<StridedPart> = [](auto& part) {
  return std::tie(part.slave_start, part.slave_block, part.master_start, part.master_block,
                  part.length, part.reach, part.levels);
};

// MasterRanges collects the ranges of a few blocks, which come in any order and overlap, and gives
// them sorted and disjoint.
class MasterRanges {
 public:
  void add(uint32_t first, uint32_t last) {
    if (count_ > 0 && first >= few_[count_ - 1].first &&
        first <= uint64_t{few_[count_ - 1].last} + 1) {
      few_[count_ - 1].last = std::max(few_[count_ - 1].last, last);
      return;
    }
    if (count_ == few_.size()) {
      many_.insert(many_.end(), few_.begin(), few_.end());
      count_ = 0;
    }
    few_[count_++] = {first, last};
  }

  template <class Merger>
  void give(Merger& merger) {
    if (many_.empty()) return give(few_.data(), few_.data() + count_, merger);
    many_.insert(many_.end(), few_.data(), few_.data() + count_);
    give(many_.begin(), many_.end(), merger);
  }

 private:
  template <class Place, class Merger>
  static void give(Place begin, Place end, Merger& merger) {
    const auto comes_before = [](const BlockRange& a, const BlockRange& b) {
      return a.first < b.first;
    };
    if (!std::is_sorted(begin, end, comes_before)) std::sort(begin, end, comes_before);
    for (; begin != end; ++begin)
      merger.add(begin->first, begin->last);
  }

  std::array<BlockRange, 24> few_;
  std::vector<BlockRange> many_;  // where there are more
  size_t count_ = 0;
};

struct StridedEdges {
  static constexpr std::string_view kind = "strided";
  // More parts than these cost a worker more than rows do.
  static constexpr size_t most_parts = 64;
  static constexpr size_t most_levels = 8;
  std::vector<StridedPart> parts;
  friend bool operator==(const StridedEdges&, const StridedEdges&) = default;

  // Edges that others know are not given in parts.
  template <class Edges>
  static std::optional<StridedEdges> draw(Edges& edges) {
    if constexpr (requires { edges.strided(); }) return edges.strided();
    return std::nullopt;
  }
  uint64_t edge_count() const {
    uint64_t edges = 0;
    const auto count = [&](uint32_t first, uint32_t last) { edges += uint64_t{last} - first + 1; };
    for (uint64_t block = 0, end = slaves(); block < end; ++block)
      visit({}, {}, static_cast<uint32_t>(block), 1, count);
    return edges;
  }
  bool fits(const Dim3& master_grid, const Dim3& slave_grid) const {
    const auto lies_in = [](const StridedPart& part, const Dim3& masters, const Dim3& slaves) {
      // So that all positions of all blocks are exact.
      constexpr int64_t largest = int64_t{1} << 60;
      return part_fits(part) && part.slave_block <= largest / int64_t(slaves.count()) &&
             last_slave(part) / part.slave_block < int64_t(slaves.count()) &&
             last_master(part) / part.master_block < int64_t(masters.count());
    };
    return parts.size() <= most_parts &&
           std::all_of(parts.begin(), parts.end(), [&](const StridedPart& part) {
             return lies_in(part, master_grid, slave_grid);
           });
  }
  uint64_t bytes() const {
    uint64_t bytes = 0;
    for (const StridedPart& part : parts)
      bytes += sizeof part + part.levels.size() * sizeof(EdgeLevel);
    return bytes;
  }
  // slaves() is one more than the last block that waits for anything.
  uint64_t slaves() const {
    int64_t blocks = 0;
    for (const StridedPart& part : parts)
      blocks = std::max(blocks, last_slave(part) / part.slave_block + 1);
    return static_cast<uint64_t>(blocks);
  }
  // visits() bounds how many ranges all blocks together find before they are joined. Saturates.
  uint64_t visits() const {
    __int128 sum = 0;
    for (const StridedPart& part : parts) {
      __int128 own = part.length / part.slave_block + 2;
      for (const EdgeLevel& level : part.levels)
        own = std::min<__int128>(own * level.count, INT64_MAX);
      sum += own;
    }
    return static_cast<uint64_t>(std::min<__int128>(sum, INT64_MAX));
  }

  // rows() is the same edges block by block, for so many slave blocks.
  RangeEdges rows(uint64_t slave_blocks) const {
    RangeEdges rows{{0}, {}};
    rows.rows.reserve(slave_blocks + 1);
    const auto add = [&](uint32_t first, uint32_t last) { rows.add({first, last}); };
    for (uint64_t block = 0; block < slave_blocks; ++block) {
      visit({}, {}, static_cast<uint32_t>(block), 1, add);
      rows.end_row();
    }
    return rows;
  }

  template <class Visit>
  void visit(const Dim3&, const Dim3&, uint32_t first_block, uint32_t block_count,
             Visit& visit) const {
    MasterRanges ranges;
    for (const StridedPart& part : parts) {
      const int64_t first = int64_t{first_block} * part.slave_block - part.slave_start;
      const int64_t last = first + int64_t{block_count} * part.slave_block - 1;
      if (last < 0) continue;
      find(part, 0, first, last, part.master_start, ranges);
    }
    RangeMerger merger(visit);
    ranges.give(merger);
    merger.finish();
  }

 private:
  static int64_t last_slave(const StridedPart& part) {
    int64_t last = part.slave_start + part.length - 1;
    for (const EdgeLevel& level : part.levels)
      last += (level.count - 1) * level.slave_stride;
    return last;
  }
  static int64_t last_master(const StridedPart& part) {
    int64_t last = part.master_start + part.length - 1 + part.reach;
    for (const EdgeLevel& level : part.levels)
      last += (level.count - 1) * level.master_stride;
    return last;
  }
  // part_fits() is true where its numbers are what they must be, and sums of them are exact.
  static bool part_fits(const StridedPart& part) {
    constexpr int64_t largest = int64_t{1} << 56;
    const auto is_place = [](int64_t number) { return number >= 0 && number < largest; };
    bool good = part.levels.size() <= most_levels && is_place(part.slave_start) &&
                is_place(part.master_start) && is_place(part.length) && is_place(part.reach) &&
                part.length > 0 && is_place(part.slave_block) && part.slave_block > 0 &&
                is_place(part.master_block) && part.master_block > 0;
    for (const EdgeLevel& level : part.levels) {
      good =
          good && is_place(level.count) && level.count > 0 && is_place(level.slave_stride) &&
          is_place(level.master_stride) &&
          level.count <= largest / std::max<int64_t>({1, level.slave_stride, level.master_stride});
    }
    return good;
  }

  // find() adds the masters of the positions first .. last, counted from the start of what a level
  // repeats.
  static void find(const StridedPart& part, size_t depth, int64_t first, int64_t last,
                   int64_t master, MasterRanges& ranges) {
    if (depth == part.levels.size()) {
      const int64_t from = std::max<int64_t>(first, 0), to = std::min(last, part.length - 1);
      if (from > to) return;
      ranges.add(static_cast<uint32_t>((master + from) / part.master_block),
                 static_cast<uint32_t>((master + to + part.reach) / part.master_block));
      return;
    }
    int64_t span = part.length;  // positions of a repetition
    for (size_t i = depth + 1; i < part.levels.size(); ++i)
      span += (part.levels[i].count - 1) * part.levels[i].slave_stride;
    const EdgeLevel& level = part.levels[depth];
    int64_t begin = 0, end = level.count - 1;
    if (level.slave_stride > 0) {
      if (last < 0) return;
      if (first >= span) begin = (first - span) / level.slave_stride + 1;
      end = std::min(end, last / level.slave_stride);
    }
    for (int64_t i = begin; i <= end; ++i) {
      find(part, depth + 1, first - i * level.slave_stride, last - i * level.slave_stride,
           master + i * level.master_stride, ranges);
    }
  }
};

template <>
inline constexpr auto members<StridedEdges> =
    [](auto& edges, auto& member) { member("parts", edges.parts); };

}  // namespace sluice::dro
