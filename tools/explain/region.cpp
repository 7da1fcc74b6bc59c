#include "tools/explain/region.hpp"

#include <algorithm>
#include <iterator>
#include <map>

#include "base/number/floor_divide.hpp"

namespace sluice::tools {
namespace {

// most_frequent_distance() between neighbours; the median where none is found twice.
int64_t most_frequent_distance(const std::vector<int64_t>& places) {
  std::map<int64_t, size_t> counts;
  for (size_t i = 1; i < places.size(); ++i)
    ++counts[places[i] - places[i - 1]];
  if (counts.empty()) return 0;
  const auto most =
      std::max_element(counts.begin(), counts.end(),
                       [](const auto& a, const auto& b) { return a.second < b.second; });
  return most->second > 1 ? most->first
                          : std::next(counts.begin(), std::ptrdiff_t(counts.size() / 2))->first;
}

// group_starts() are the starts after a gap clearly wider than `pitch`: the planes of an array
// whose rows are `pitch` apart.
std::vector<int64_t> group_starts(const std::vector<int64_t>& starts, int64_t pitch) {
  std::vector<int64_t> groups = {starts.front()};
  for (size_t i = 1; i < starts.size(); ++i) {
    if (starts[i] - starts[i - 1] > pitch + pitch / 2) groups.push_back(starts[i]);
  }
  return groups;
}

}  // namespace

std::optional<Box> box_of(const ByteRuns& runs, const Pitches& pitches) {
  if (runs.empty()) return std::nullopt;
  Box box(pitches.size() + 1, Range{INT64_MAX, INT64_MIN});
  const auto include = [](Range& range, int64_t at) {
    range.begin = std::min(range.begin, at);
    range.end = std::max(range.end, at + 1);
  };
  for (const Range& run : runs) {
    int64_t first = run.begin, last = run.end - 1;
    for (size_t i = 0; i < pitches.size(); ++i) {
      const int64_t row = floor_divide(first, pitches[i]);
      if (floor_divide(last, pitches[i]) != row) return std::nullopt;
      include(box[i], row);
      first -= row * pitches[i];
      last -= row * pitches[i];
    }
    include(box.back(), first);
    include(box.back(), last);
  }
  return box;
}

std::vector<Pitches> likely_pitches(const ByteRuns& runs) {
  if (runs.size() < 2) return {{}};
  std::vector<int64_t> starts;
  for (const Range& run : runs)
    starts.push_back(run.begin);
  const int64_t row = most_frequent_distance(starts);
  const std::vector<int64_t> groups = group_starts(starts, row);
  std::vector<Pitches> likely;
  const int64_t plane = most_frequent_distance(groups);
  if (plane > row && plane % row == 0 && box_of(runs, {plane, row})) likely.push_back({plane, row});
  if (box_of(runs, {row})) likely.push_back({row});
  likely.push_back({});
  return likely;
}

uint64_t box_bytes(const Box& box) {
  uint64_t bytes = 1;
  for (const Range& range : box)
    bytes *= uint64_t(range.size());
  return bytes;
}

}  // namespace sluice::tools
