#include "dro/boxes/block_boxes.hpp"

#include <algorithm>
#include <utility>

#include "base/number/floor_divide.hpp"

namespace sluice::dro {
namespace {

constexpr int64_t largest_position = int64_t{1} << 60;

// So many ranges, or entries of a table, are gone through in a step.
constexpr uint64_t ranges_a_step = 8;

bool is_single(const Interval& interval) {
  return interval.first >= interval.last;
}

// scaled() is stride * by + plus, for both ends; an empty interval stays empty.
bool scaled(const Interval& by, int64_t stride, const Interval& plus, Interval& result) {
  if (by.empty() || plus.empty()) {
    result = {};
    return true;
  }
  return !__builtin_mul_overflow(by.first, stride, &result.first) &&
         !__builtin_add_overflow(result.first, plus.first, &result.first) &&
         !__builtin_mul_overflow(by.last, stride, &result.last) &&
         !__builtin_add_overflow(result.last, plus.last, &result.last) &&
         std::abs(result.first) < largest_position && std::abs(result.last) < largest_position;
}

const Interval& at_place(const BoxLevel& level, size_t place) {
  return level.at[level.axis == BoxLevel::no_axis ? 0 : place];
}

// merge() makes one level of two where that says the same: where the inner positions of a block
// fill the outer stride, or where there is only one outer position for them.
bool merge(const BoxLevel& outer, BoxLevel& inner) {
  const int axis = outer.axis == BoxLevel::no_axis ? inner.axis : outer.axis;
  if (inner.axis != BoxLevel::no_axis && inner.axis != axis) return false;
  const int64_t ratio = outer.stride / inner.stride;
  const size_t places = std::max(outer.at.size(), inner.at.size());
  BoxLevel merged{inner.stride, axis, {}};
  merged.at.resize(places);
  for (size_t place = 0; place < places; ++place) {
    const Interval& from = at_place(outer, place);
    const Interval& to = at_place(inner, place);
    const bool dense = to.last - to.first + 1 >= ratio;
    if (!from.empty() && !to.empty() && !dense && !is_single(from)) return false;
    if (!scaled(from, ratio, to, merged.at[place])) return false;
  }
  inner = std::move(merged);
  return true;
}

std::optional<int64_t> lowest(const BoxLevel& level) {
  std::optional<int64_t> low;
  for (const Interval& interval : level.at) {
    if (!interval.empty()) low = std::min(low.value_or(interval.first), interval.first);
  }
  return low;
}

bool move(BoxLevel& level, int64_t by) {
  return std::all_of(level.at.begin(), level.at.end(), [by](Interval& interval) {
    return interval.empty() || scaled(interval, 1, {by, by}, interval);
  });
}

// fits() is true where no byte is too far off to be counted.
bool fits(const std::vector<BoxLevel>& levels) {
  int64_t low = 0, high = 0;
  for (const BoxLevel& level : levels) {
    Interval hull{largest_position, -largest_position};
    for (const Interval& interval : level.at) {
      if (interval.empty()) continue;
      hull = {std::min(hull.first, interval.first), std::max(hull.last, interval.last)};
    }
    if (hull.empty()) return true;
    Interval sum;
    if (!scaled(hull, level.stride, {low, high}, sum)) return false;
    low = sum.first;
    high = sum.last;
  }
  return true;
}

}  // namespace

bool touches_nothing(const BlockBoxes& piece) {
  const auto empty = [](const Interval& interval) { return interval.empty(); };
  return std::any_of(piece.domain.begin(), piece.domain.end(), empty) ||
         std::any_of(piece.levels.begin(), piece.levels.end(), [&](const BoxLevel& level) {
           return std::all_of(level.at.begin(), level.at.end(), empty);
         });
}

std::optional<BlockBoxes> tidied(BlockBoxes piece) {
  std::vector<BoxLevel>& levels = piece.levels;
  if (touches_nothing(piece)) return piece;
  for (size_t i = levels.size() - 1; i > 0;) {
    if (merge(levels[i - 1], levels[i])) {
      levels.erase(levels.begin() + static_cast<std::ptrdiff_t>(i) - 1);
      i = levels.size() - 1;  // what is longer now may merge with what is inside it
    } else {
      --i;
    }
  }
  if (touches_nothing(piece)) return piece;
  std::array<int, 3> uses = {};
  for (const BoxLevel& level : levels) {
    if (level.axis != BoxLevel::no_axis && ++uses[static_cast<size_t>(level.axis)] > 1) {
      return std::nullopt;
    }
  }
  for (size_t i = levels.size() - 1; i > 0; --i) {
    const int64_t ratio = levels[i - 1].stride / levels[i].stride;
    const int64_t turns = floor_divide(*lowest(levels[i]), ratio);
    if (turns != 0 && (!move(levels[i], -turns * ratio) || !move(levels[i - 1], turns))) {
      return std::nullopt;
    }
  }
  if (!fits(levels)) return std::nullopt;
  return piece;
}

std::optional<BlockBoxes> shifted(BlockBoxes piece, int64_t offset) {
  if (offset == 0 || touches_nothing(piece)) return piece;
  if (!move(piece.levels.back(), offset)) return std::nullopt;
  return tidied(std::move(piece));
}

BlockBoxes whole_range(const Dim3& grid, uint64_t bytes) {
  BlockBoxes piece;
  piece.domain = {{{0, int64_t{grid.x} - 1}, {0, int64_t{grid.y} - 1}, {0, int64_t{grid.z} - 1}}};
  piece.levels.push_back({1, BoxLevel::no_axis, {{0, static_cast<int64_t>(bytes) - 1}}});
  return piece;
}

uint64_t places_of(const BlockBoxes& piece) {
  uint64_t places = 0;
  for (const BoxLevel& level : piece.levels)
    places += level.at.size();
  return places;
}

namespace {

// RunLister lists one piece block by block.
class RunLister {
 public:
  RunLister(const BlockBoxes& piece, Budget& budget, std::vector<ByteRun>& runs)
      : piece_(piece), budget_(budget), runs_(runs) {}

  bool list(uint32_t block, const std::array<int64_t, 3>& at) {
    for (size_t axis = 0; axis < 3; ++axis) {
      if (at[axis] < piece_.domain[axis].first || at[axis] > piece_.domain[axis].last) return true;
    }
    for (const BoxLevel& level : piece_.levels) {
      if (of(level, at).empty()) return true;
    }
    return list_level(block, at, 0, 0);
  }

 private:
  static const Interval& of(const BoxLevel& level, const std::array<int64_t, 3>& at) {
    if (level.axis == BoxLevel::no_axis) return level.at[0];
    return level.at[static_cast<size_t>(at[static_cast<size_t>(level.axis)])];
  }

  bool list_level(uint32_t block, const std::array<int64_t, 3>& at, size_t depth, int64_t base) {
    const BoxLevel& level = piece_.levels[depth];
    const Interval& interval = of(level, at);
    if (depth + 1 == piece_.levels.size()) {
      if (!budget_.make<ByteRun>(1, ranges_a_step)) return false;
      runs_.push_back({block, base + interval.first, base + interval.last + 1});
      return true;
    }
    for (int64_t position = interval.first; position <= interval.last; ++position) {
      if (!list_level(block, at, depth + 1, base + level.stride * position)) return false;
    }
    return true;
  }

  const BlockBoxes& piece_;
  Budget& budget_;
  std::vector<ByteRun>& runs_;
};

}  // namespace

bool append_runs(const Boxes& boxes, const Dim3& grid, Budget& budget, std::vector<ByteRun>& runs) {
  std::vector<RunLister> listers;
  if (!budget.take(grid.count() * boxes.size() / ranges_a_step)) return false;
  for (const BlockBoxes& piece : boxes)
    listers.emplace_back(piece, budget, runs);
  uint32_t block = 0;
  for (int64_t z = 0; z < grid.z; ++z) {
    for (int64_t y = 0; y < grid.y; ++y) {
      for (int64_t x = 0; x < grid.x; ++x, ++block) {
        for (RunLister& lister : listers) {
          if (!lister.list(block, {x, y, z})) return false;
        }
      }
    }
  }
  return true;
}

}  // namespace sluice::dro
