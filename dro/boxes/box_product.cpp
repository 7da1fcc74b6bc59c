#include "dro/boxes/box_product.hpp"

#include <algorithm>
#include <functional>
#include <set>
#include <utility>

#include "base/number/floor_divide.hpp"

namespace sluice::dro {
namespace {

// split_level() parts a level into positions `ratio` times as far apart, and those between them,
// where that is a box again.
bool split_level(const BoxLevel& level, int64_t ratio, BoxLevel& outer, BoxLevel& inner) {
  outer = {level.stride * ratio, BoxLevel::no_axis, {}};
  inner = {level.stride, BoxLevel::no_axis, {}};
  bool one_place = true;
  bool full = true;
  std::optional<int64_t> place;
  for (const Interval& interval : level.at) {
    if (interval.empty()) continue;
    const int64_t first = floor_divide(interval.first, ratio);
    const int64_t last = floor_divide(interval.last, ratio);
    one_place = one_place && first == last && place.value_or(first) == first;
    full = full && interval.first == first * ratio && interval.last == last * ratio + ratio - 1;
    place = first;
  }
  if (!place || (!one_place && !full)) return false;
  BoxLevel& moving = one_place ? inner : outer;
  moving.axis = level.axis;
  for (const Interval& interval : level.at) {
    if (interval.empty()) {
      moving.at.emplace_back();
    } else if (one_place) {
      moving.at.push_back({interval.first - *place * ratio, interval.last - *place * ratio});
    } else {
      moving.at.push_back(
          {floor_divide(interval.first, ratio), floor_divide(interval.last, ratio)});
    }
  }
  (one_place ? outer : inner).at = {one_place ? Interval{*place, *place} : Interval{0, ratio - 1}};
  return true;
}

// strides_of() are the strides of both, the largest first.
std::vector<int64_t> strides_of(const std::vector<BoxLevel>& a, const std::vector<BoxLevel>& b) {
  std::set<int64_t, std::greater<>> strides;
  for (const auto* levels : {&a, &b}) {
    for (const BoxLevel& level : *levels)
      strides.insert(level.stride);
  }
  return {strides.begin(), strides.end()};
}

// give_strides() parts levels so that they have all of the strides, of which theirs are some; false
// where that gives no boxes.
bool give_strides(std::vector<BoxLevel>& levels, const std::vector<int64_t>& strides) {
  for (size_t i = 0; i < strides.size(); ++i) {
    if (levels[i].stride == strides[i]) continue;
    if (strides[i] % levels[i].stride != 0) return false;
    BoxLevel outer, inner;
    if (!split_level(levels[i], strides[i] / levels[i].stride, outer, inner)) return false;
    levels[i] = std::move(inner);
    levels.insert(levels.begin() + static_cast<std::ptrdiff_t>(i), std::move(outer));
  }
  return true;
}

// covers() is true where every block of `a` touches all bytes that any block of `b` touches.
bool covers(const std::vector<BoxLevel>& a, const std::vector<BoxLevel>& b) {
  if (a.size() != 1 || a[0].axis != BoxLevel::no_axis) return false;
  Interval bytes{0, 0};
  for (const BoxLevel& level : b) {
    const Interval hull = hull_of(level);
    bytes.first += level.stride * hull.first;
    bytes.last += level.stride * hull.last;
  }
  return a[0].at[0].first <= bytes.first && bytes.last <= a[0].at[0].last;
}

// all_positions() is levels on which every block touches whatever any block of `levels` touches.
std::vector<BoxLevel> all_positions(const std::vector<BoxLevel>& levels) {
  std::vector<BoxLevel> all;
  for (const BoxLevel& level : levels)
    all.push_back({level.stride, BoxLevel::no_axis, {hull_of(level)}});
  return all;
}

// count_alike() is true where equal bytes mean equal positions on every level of both.
bool count_alike(const std::vector<BoxLevel>& a, const std::vector<BoxLevel>& b) {
  for (size_t i = 1; i < a.size(); ++i) {
    const Interval hull = joined(hull_of(a[i]), hull_of(b[i]));
    if (hull.last - hull.first >= a[i - 1].stride / a[i].stride) return false;
  }
  return true;
}

}  // namespace

Interval hull_of(const BoxLevel& level) {
  Interval hull;
  for (const Interval& interval : level.at)
    hull = joined(hull, interval);
  return hull;
}

std::optional<AxisProduct> product_of(const BlockBoxes& later, const BlockBoxes& earlier,
                                      const Dim3& slave_grid, const Dim3& master_grid) {
  std::vector<BoxLevel> slaves = later.levels, masters = earlier.levels;
  if (covers(slaves, masters)) {
    slaves = all_positions(masters);
  } else if (covers(masters, slaves)) {
    masters = all_positions(slaves);
  } else {
    const auto strides = strides_of(slaves, masters);
    if (!give_strides(slaves, strides) || !give_strides(masters, strides) ||
        !count_alike(slaves, masters)) {
      return std::nullopt;
    }
  }
  AxisProduct product(slave_grid, master_grid, later.domain, earlier.domain);
  for (size_t i = 0; i < slaves.size(); ++i) {
    if (!product.meet(slaves[i], masters[i])) return std::nullopt;
  }
  if (!product.finish()) return std::nullopt;
  return product;
}

}  // namespace sluice::dro
