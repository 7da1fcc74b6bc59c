#include "dro/strides/block_strides.hpp"

#include <algorithm>
#include <utility>

namespace sluice::dro {
namespace {

// So many runs are gone through in a step.
constexpr uint64_t runs_a_step = 8;

// Numbers stay below, so that a few sums of them are exact.
constexpr int64_t largest = int64_t{1} << 60;

bool same_but_where(const BlockStrides& a, const BlockStrides& b) {
  return a.block == b.block && a.length == b.length && a.levels == b.levels;
}

// for_each_run() calls visit(position, byte) with the start of each run.
template <class Visit>
void for_each_run(const BlockStrides& part, size_t level, int64_t position, int64_t byte,
                  const Visit& visit) {
  if (level == part.levels.size()) return visit(position, byte);
  const StrideLevel& own = part.levels[level];
  for (int64_t i = 0; i < own.count; ++i) {
    for_each_run(part, level + 1, position + i * own.position_stride, byte + i * own.byte_stride,
                 visit);
  }
}

// put_around() puts a level around a part, or makes its run longer where that says the same.
void put_around(const StrideLevel& level, BlockStrides& part) {
  if (level.count == 1) return;
  if (level.position_stride == part.length && level.byte_stride == part.length) {
    part.length *= level.count;
  } else {
    part.levels.insert(part.levels.begin(), level);
  }
}

// split_pairs() makes two parts of each level of two, which is no order but chance.
void split_pairs(const BlockStrides& part, Strides& parts) {
  const auto pair = std::ranges::find(part.levels, 2, &StrideLevel::count);
  if (pair == part.levels.end()) {
    parts.push_back(part);
    return;
  }
  BlockStrides first = part;
  first.levels.erase(first.levels.begin() + (pair - part.levels.begin()));
  BlockStrides second = first;
  second.position += pair->position_stride;
  second.byte += pair->byte_stride;
  split_pairs(first, parts);
  split_pairs(second, parts);
}

}  // namespace

uint64_t BlockStrides::runs() const {
  uint64_t runs = 1;
  for (const StrideLevel& level : levels) {
    if (__builtin_mul_overflow(runs, static_cast<uint64_t>(level.count), &runs)) return UINT64_MAX;
  }
  return runs;
}

int64_t BlockStrides::last_position() const {
  int64_t last = position + length - 1;
  for (const StrideLevel& level : levels)
    last += (level.count - 1) * level.position_stride;
  return last;
}

int64_t BlockStrides::last_byte() const {
  int64_t last = byte + length - 1;
  for (const StrideLevel& level : levels)
    last += (level.count - 1) * level.byte_stride;
  return last;
}

// joins() adds a part as the next repetition of those found, where it is that; a second may come
// anywhere behind the first.
bool StrideGathering::joins(Found& found, const BlockStrides& part) const {
  if (!same_but_where(found.base, part)) return false;
  const int64_t positions = part.position - found.base.position;
  const int64_t bytes = part.byte - found.base.byte;
  StrideLevel& level = found.level;
  if (level.count == 1) {
    // What overlaps itself is no row of an array.
    const auto clears = [&](int64_t stride) { return stride == 0 || stride >= part.length; };
    if (!clears(positions) || !clears(bytes) || (positions == 0 && bytes == 0)) return false;
    level = {2, positions, bytes};
    return true;
  }
  if (positions != level.count * level.position_stride || bytes != level.count * level.byte_stride)
    return false;
  ++level.count;
  return true;
}

bool StrideGathering::add(BlockStrides part) {
  if (!budget_.take(1 + found_.size() / runs_a_step)) return false;
  const auto join_where = [&](bool more_than_one) {
    return std::any_of(found_.rbegin(), found_.rend(), [&](Found& each) {
      return (each.level.count > 1) == more_than_one && joins(each, part);
    });
  };
  if (join_where(true) || join_where(false)) return true;
  if (found_.size() == most_found) return false;
  found_.push_back({std::move(part), {}});
  return true;
}

Strides StrideGathering::closed(std::vector<Found> all) {
  Strides parts;
  for (Found& each : all) {
    put_around(each.level, each.base);
    parts.push_back(std::move(each.base));
  }
  return parts;
}

std::optional<Strides> StrideGathering::finish() {
  Strides parts = closed(std::exchange(found_, {}));
  for (size_t before = parts.size() + 1; parts.size() < before;) {
    before = parts.size();
    for (BlockStrides& part : parts) {
      if (!add(std::move(part))) return std::nullopt;
    }
    parts = closed(std::exchange(found_, {}));
  }
  Strides split;
  for (const BlockStrides& part : parts)
    split_pairs(part, split);
  if (split.size() > most_parts) return std::nullopt;
  return split;
}

std::optional<BlockStrides> every_block(uint64_t blocks, uint64_t bytes) {
  if (bytes == 0 || blocks == 0 || bytes > static_cast<uint64_t>(largest) / blocks)
    return std::nullopt;
  const auto length = static_cast<int64_t>(bytes);
  BlockStrides part{length, 0, 0, length, {}};
  if (blocks > 1) part.levels.push_back({static_cast<int64_t>(blocks), length, 0});
  return part;
}

bool lie_in(const Strides& strides, const Dim3& grid) {
  return std::ranges::all_of(strides, [&](const BlockStrides& part) {
    return part.position >= 0 && part.last_position() / part.block < int64_t{grid.x};
  });
}

std::optional<ByteIntervals> bytes_of(const Strides& strides, Budget& budget) {
  std::vector<Range> ranges;
  for (BlockStrides part : strides) {
    std::erase_if(part.levels, [](const StrideLevel& level) { return level.byte_stride == 0; });
    if (!budget.make<Range>(part.runs(), runs_a_step)) return std::nullopt;
    for_each_run(part, 0, 0, part.byte, [&](int64_t, int64_t byte) {
      if (!ranges.empty() && ranges.back().end == byte) {
        ranges.back().end += part.length;
      } else {
        ranges.push_back({byte, byte + part.length});
      }
    });
  }
  if (!budget.take(sorting_steps(ranges.size()))) return std::nullopt;
  return ByteIntervals(std::move(ranges));
}

bool append_runs(const Strides& strides, Budget& budget, std::vector<ByteRun>& runs) {
  for (const BlockStrides& part : strides) {
    const auto crossed = static_cast<uint64_t>(part.length / part.block + 2);
    uint64_t most = 0;
    if (__builtin_mul_overflow(part.runs(), crossed, &most) ||
        !budget.make<ByteRun>(most, runs_a_step)) {
      return false;
    }
    for_each_run(part, 0, part.position, part.byte, [&](int64_t position, int64_t byte) {
      for (int64_t done = 0; done < part.length;) {
        const int64_t block = (position + done) / part.block;
        const int64_t end = std::min(part.length, (block + 1) * part.block - position);
        runs.push_back({static_cast<uint32_t>(block), byte + done, byte + end});
        done = end;
      }
    });
  }
  return true;
}

}  // namespace sluice::dro
