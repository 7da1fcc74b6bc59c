// Ranges of whole numbers.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <vector>

namespace sluice {

// Range is begin .. end - 1: bytes of a buffer, mostly.
struct Range {
  int64_t begin = 0;
  int64_t end = 0;

  bool empty() const { return end <= begin; }
  int64_t size() const { return end - begin; }
  // meets() is true where two ranges that are not empty have something in common.
  bool meets(const Range& other) const { return begin < other.end && other.begin < end; }
  friend bool operator==(const Range&, const Range&) = default;
};

// ByteRuns are sorted, disjoint and not adjacent, unless said otherwise.
using ByteRuns = std::vector<Range>;

// joined() is the smallest range that holds both.
inline std::optional<Range> joined(const std::optional<Range>& a, const std::optional<Range>& b) {
  if (!a || !b) return a ? a : b;
  return Range{std::min(a->begin, b->begin), std::max(a->end, b->end)};
}

// join_ranges() sorts ranges and joins those that overlap or touch; empty ones go.
void join_ranges(std::vector<Range>& ranges);

}  // namespace sluice
