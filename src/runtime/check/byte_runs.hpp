// Sets of bytes as sorted runs: what the footprint check compares.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace sluice::runtime {

// ByteRun is [first, end).
struct ByteRun {
  int64_t first = 0;
  int64_t end = 0;
  friend bool operator==(const ByteRun&, const ByteRun&) = default;
};

// ByteRuns are sorted, disjoint and not adjacent, unless said otherwise.
using ByteRuns = std::vector<ByteRun>;

// normalise() sorts runs of any order and joins what overlaps or touches.
void normalise(ByteRuns& runs);

uint64_t count_bytes(const ByteRuns& runs);
// common_bytes() counts the bytes of `runs` + `shift` that are in `others`.
uint64_t common_bytes(const ByteRuns& runs, int64_t shift, const ByteRuns& others);

// first_missing() is the first byte of `runs` + `shift` that is not in `others`, as it stands in
// `runs`; `end` of the last run where none is missing.
int64_t first_missing(const ByteRuns& runs, int64_t shift, const ByteRuns& others);

// ByteSearch finds runs fast where neighbouring look-ups fall into the same run.
class ByteSearch {
 public:
  explicit ByteSearch(ByteRuns runs) : runs_(std::move(runs)) {}

  // covers() is true where all of [first, end) lies in one run.
  bool covers(int64_t first, int64_t end);

 private:
  ByteRuns runs_;
  size_t last_ = 0;
};

// ByteCollector gathers touched bytes, in any order and many times over, in little memory.
class ByteCollector {
 public:
  void add(int64_t first, int64_t end);
  // take() returns what was added since the last take(), normalised.
  ByteRuns take();

 private:
  ByteRuns runs_;  // in no order
  size_t limit_ = first_limit;
  static constexpr size_t first_limit = 8192;
};

}  // namespace sluice::runtime
