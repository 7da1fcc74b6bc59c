#include "dro/boxes/axis_edges.hpp"

#include <algorithm>

namespace sluice::dro {
namespace {

bool meet_each_other(const Interval& a, const Interval& b) {
  return !a.empty() && !b.empty() && a.first <= b.last && b.first <= a.last;
}

std::vector<bool> within(uint32_t extent, const Interval& domain) {
  std::vector<bool> in(extent, false);
  for (int64_t place = domain.first; place <= domain.last; ++place)
    in[static_cast<size_t>(place)] = true;
  return in;
}

// keep_meeting() takes out the coordinates whose positions don't meet `fixed`.
void keep_meeting(std::vector<bool>& in, const std::vector<Interval>& at, const Interval& fixed) {
  for (size_t i = 0; i < in.size(); ++i)
    in[i] = in[i] && meet_each_other(at[i], fixed);
}

void include(Interval& hull, const Interval& more) {
  if (more.empty()) return;
  hull = hull.empty() ? more
                      : Interval{std::min(hull.first, more.first), std::max(hull.last, more.last)};
}

}  // namespace

AxisProduct::AxisProduct(const Dim3& slave_grid, const Dim3& master_grid,
                         const std::array<Interval, 3>& slaves,
                         const std::array<Interval, 3>& masters) {
  const std::array<uint32_t, 3> from = {slave_grid.x, slave_grid.y, slave_grid.z};
  const std::array<uint32_t, 3> to = {master_grid.x, master_grid.y, master_grid.z};
  for (size_t i = 0; i < 3; ++i) {
    axes_[i].slave_in = within(from[i], slaves[i]);
    axes_[i].master_in = within(to[i], masters[i]);
  }
}

bool AxisProduct::meet(const BoxLevel& slaves, const BoxLevel& masters) {
  constexpr int none = BoxLevel::no_axis;
  if (slaves.axis == none && masters.axis == none) {
    nothing_ = nothing_ || !meet_each_other(slaves.at[0], masters.at[0]);
  } else if (masters.axis == none) {
    keep_meeting(axes_[static_cast<size_t>(slaves.axis)].slave_in, slaves.at, masters.at[0]);
  } else if (slaves.axis == none) {
    keep_meeting(axes_[static_cast<size_t>(masters.axis)].master_in, masters.at, slaves.at[0]);
  } else if (slaves.axis == masters.axis) {
    return meet_on(axes_[static_cast<size_t>(slaves.axis)], slaves.at, masters.at);
  } else {
    return false;
  }
  return true;
}

// meet_on() finds, for each slave coordinate, the masters whose positions meet its own. Where the
// masters' positions ascend, they are neighbours of each other, and so are those of the next slave.
bool AxisProduct::meet_on(Axis& axis, const std::vector<Interval>& slaves,
                          const std::vector<Interval>& masters) {
  std::vector<int64_t> places;  // of masters that touch anything
  for (size_t i = 0; i < masters.size(); ++i) {
    if (!axis.master_in[i] || masters[i].empty()) continue;
    if (!places.empty()) {
      const Interval& before = masters[static_cast<size_t>(places.back())];
      const bool gap = places.back() + 1 != static_cast<int64_t>(i);
      if (gap || masters[i].first < before.first || masters[i].last < before.last) return false;
    }
    places.push_back(static_cast<int64_t>(i));
  }
  axis.met = true;
  axis.rows.assign(slaves.size(), {});
  for (size_t i = 0; i < slaves.size(); ++i) {
    if (!axis.slave_in[i] || slaves[i].empty()) continue;
    const auto at = [&](int64_t place) -> const Interval& {
      return masters[static_cast<size_t>(place)];
    };
    const auto begin = std::partition_point(places.begin(), places.end(), [&](int64_t place) {
      return at(place).last < slaves[i].first;
    });
    const auto end = std::partition_point(
        begin, places.end(), [&](int64_t place) { return at(place).first <= slaves[i].last; });
    if (begin != end) axis.rows[i] = {*begin, *(end - 1)};
  }
  return true;
}

bool AxisProduct::finish() {
  return std::all_of(axes_.begin(), axes_.end(), [](Axis& axis) { return finish(axis); });
}

// finish() gives every slave coordinate its row, where no level has done so.
bool AxisProduct::finish(Axis& axis) {
  if (!axis.met) {
    Interval masters;
    for (size_t i = 0; i < axis.master_in.size(); ++i) {
      const auto place = static_cast<int64_t>(i);
      if (!axis.master_in[i]) continue;
      if (!masters.empty() && masters.last + 1 != place) return false;
      include(masters, {place, place});
    }
    axis.rows.assign(axis.slave_in.size(), masters);
  }
  for (size_t i = 0; i < axis.rows.size(); ++i) {
    if (!axis.slave_in[i]) axis.rows[i] = {};
    if (axis.rows[i].empty()) continue;
    const auto place = static_cast<int64_t>(i);
    include(axis.slaves, {place, place});
    include(axis.masters, axis.rows[i]);
  }
  return true;
}

bool AxisProduct::empty() const {
  return nothing_ || std::any_of(axes_.begin(), axes_.end(),
                                 [](const Axis& axis) { return axis.slaves.empty(); });
}

uint64_t AxisProduct::pairs(size_t axis) const {
  uint64_t pairs = axes_[axis].rows.size();
  for (const Interval& row : axes_[axis].rows) {
    if (!row.empty()) pairs += static_cast<uint64_t>(row.last - row.first + 1);
  }
  return pairs;
}

std::vector<int64_t> AxisProduct::offsets(size_t axis, size_t most) const {
  const auto& rows = axes_[axis].rows;
  Interval hull;
  for (size_t i = 0; i < rows.size(); ++i) {
    const auto place = static_cast<int64_t>(i);
    if (!rows[i].empty()) include(hull, {rows[i].first - place, rows[i].last - place});
  }
  if (hull.empty() || hull.last - hull.first >= static_cast<int64_t>(16 * most)) return {};
  std::vector<bool> seen(static_cast<size_t>(hull.last - hull.first + 1), false);
  for (size_t i = 0; i < rows.size(); ++i) {
    for (int64_t to = rows[i].first; to <= rows[i].last; ++to)
      seen[static_cast<size_t>(to - static_cast<int64_t>(i) - hull.first)] = true;
  }
  std::vector<int64_t> offsets;
  for (size_t i = 0; i < seen.size(); ++i) {
    if (seen[i]) offsets.push_back(hull.first + static_cast<int64_t>(i));
  }
  if (offsets.size() > most) return {};
  return offsets;
}

bool AxisProduct::has_offset(size_t axis, const Interval& from, int64_t offset) const {
  const auto& rows = axes_[axis].rows;
  for (int64_t place = from.first; place <= from.last; ++place) {
    const Interval& row = rows[static_cast<size_t>(place)];
    if (place + offset < row.first || place + offset > row.last) return false;
  }
  return true;
}

bool AxisProduct::has_all(size_t axis, const Interval& slaves, const Interval& masters) const {
  const auto& rows = axes_[axis].rows;
  for (int64_t place = slaves.first; place <= slaves.last; ++place) {
    const Interval& row = rows[static_cast<size_t>(place)];
    if (row.first > masters.first || row.last < masters.last) return false;
  }
  return true;
}

}  // namespace sluice::dro
