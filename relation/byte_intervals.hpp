// Sets of bytes as lists of ranges, for what is small enough to be listed.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "base/number/range.hpp"
#include "relation/budget.hpp"

namespace sluice {

// StridedRun is ranges of equal length at equal distances: first + stride * k for 0 <= k < count.
struct StridedRun {
  int64_t first = 0;
  int64_t length = 0;
  int64_t stride = 0;
  int64_t count = 0;

  bool looks_like(const StridedRun& other) const {
    return length == other.length && stride == other.stride && count == other.count;
  }
  friend bool operator==(const StridedRun&, const StridedRun&) = default;
};

// strided_runs() cuts sorted ranges into runs, each as long as can be. Past `most` runs it ends,
// and they don't hold all ranges.
std::vector<StridedRun> strided_runs(const std::vector<Range>& ranges, size_t most);

// ByteIntervals is a set of bytes as sorted ranges between which bytes are missing, so that equal
// sets are equal lists. Each operation takes time in proportion to its operands' ranges.
class ByteIntervals {
 public:
  ByteIntervals() = default;
  // The ranges may come in any order and overlap.
  explicit ByteIntervals(std::vector<Range> ranges);

  const std::vector<Range>& ranges() const { return ranges_; }
  bool empty() const { return ranges_.empty(); }
  std::optional<Range> hull() const;

  // meets() is true where both hold some byte. Where both are a few rows of one array, it takes no
  // look at each row.
  bool meets(const ByteIntervals& other) const;
  ByteIntervals without(const ByteIntervals& gone) const;
  ByteIntervals with(const ByteIntervals& more) const;
  // meeting_cost() and merging_cost() are what meets(), and without() or with(), take at most.
  Budget::Cost meeting_cost(const ByteIntervals& other) const;
  Budget::Cost merging_cost(const ByteIntervals& other) const;

  friend bool operator==(const ByteIntervals&, const ByteIntervals&) = default;

 private:
  void find_runs();

  std::vector<Range> ranges_;
  std::vector<StridedRun> runs_;  // of all ranges, where these are many and their runs few
};

}  // namespace sluice
