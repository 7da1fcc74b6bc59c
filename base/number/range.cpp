#include "base/number/range.hpp"

namespace sluice {

void join_ranges(std::vector<Range>& ranges) {
  const auto begins_before = [](const Range& a, const Range& b) { return a.begin < b.begin; };
  if (!std::ranges::is_sorted(ranges, begins_before)) std::ranges::sort(ranges, begins_before);
  size_t kept = 0;
  for (const Range& range : ranges) {
    if (range.empty()) continue;
    if (kept > 0 && range.begin <= ranges[kept - 1].end) {
      ranges[kept - 1].end = std::max(ranges[kept - 1].end, range.end);
    } else {
      ranges[kept++] = range;
    }
  }
  ranges.resize(kept);
}

}  // namespace sluice
