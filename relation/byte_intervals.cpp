#include "relation/byte_intervals.hpp"

#include <algorithm>
#include <bit>
#include <utility>

#include "base/number/floor_divide.hpp"

namespace sluice {
namespace {

bool starts_before(const Range& a, const Range& b) {
  return a.begin < b.begin;
}

// first_reaching() is the first range at or after `from` that ends after `byte`. It gallops,
// so that a few ranges met with many cost a few steps.
size_t first_reaching(const std::vector<Range>& ranges, size_t from, int64_t byte) {
  size_t step = 1;
  size_t end = from;
  while (end < ranges.size() && ranges[end].end <= byte) {
    from = end + 1;
    end += step;
    step *= 2;
  }
  end = std::min(end, ranges.size());
  const auto found =
      std::lower_bound(ranges.begin() + static_cast<std::ptrdiff_t>(from),
                       ranges.begin() + static_cast<std::ptrdiff_t>(end), byte,
                       [](const Range& range, int64_t value) { return range.end <= value; });
  return static_cast<size_t>(found - ranges.begin());
}

// Sets of more ranges are looked at by runs, if these are not more.
constexpr size_t many_ranges = 16;
constexpr size_t few_runs = 4;

// So many ranges are gone through in a step.
constexpr uint64_t ranges_a_step = 8;

// meet() says whether two runs hold a common byte; nothing where their strides differ.
std::optional<bool> meet(const StridedRun& a, const StridedRun& b) {
  const auto last = [](const StridedRun& run) {
    return run.first + run.stride * (run.count - 1) + run.length - 1;
  };
  if (last(a) < b.first || last(b) < a.first) return false;
  if (a.count > 1 && b.count > 1 && a.stride != b.stride) return std::nullopt;
  const int64_t stride = a.count > 1 ? a.stride : b.stride;
  // Range k of a and range l of b meet where stride * (k - l) lies between these.
  const int64_t low = b.first - a.first - a.length + 1, high = b.first - a.first + b.length - 1;
  const int64_t first = std::max(-floor_divide(-low, stride), 1 - b.count);
  const int64_t last_turn = std::min(floor_divide(high, stride), a.count - 1);
  return first <= last_turn;
}

}  // namespace

std::vector<StridedRun> strided_runs(const std::vector<Range>& ranges, size_t most) {
  std::vector<StridedRun> runs;
  for (size_t i = 0; i < ranges.size() && runs.size() <= most;) {
    StridedRun run{ranges[i].begin, ranges[i].size(), 0, 1};
    run.stride = i + 1 < ranges.size() ? ranges[i + 1].begin - run.first : run.length;
    size_t end = i + 1;
    while (end < ranges.size() && ranges[end].size() == run.length &&
           ranges[end].begin - ranges[end - 1].begin == run.stride) {
      ++end;
    }
    run.count = static_cast<int64_t>(end - i);
    if (run.count == 1) run.stride = run.length;
    runs.push_back(run);
    i = end;
  }
  return runs;
}

void ByteIntervals::find_runs() {
  if (ranges_.size() < many_ranges) return;
  runs_ = strided_runs(ranges_, few_runs);
  if (runs_.size() > few_runs) runs_.clear();
}

ByteIntervals::ByteIntervals(std::vector<Range> ranges) : ranges_(std::move(ranges)) {
  join_ranges(ranges_);
  ranges_.shrink_to_fit();
  find_runs();
}

std::optional<Range> ByteIntervals::hull() const {
  if (ranges_.empty()) return std::nullopt;
  return Range{ranges_.front().begin, ranges_.back().end};
}

Budget::Cost ByteIntervals::meeting_cost(const ByteIntervals& other) const {
  const uint64_t few = std::min(ranges_.size(), other.ranges_.size());
  const uint64_t many = std::max(ranges_.size(), other.ranges_.size());
  return {1 + few * (1 + std::bit_width(many / (few + 1))) / ranges_a_step, 0};
}

Budget::Cost ByteIntervals::merging_cost(const ByteIntervals& other) const {
  const uint64_t ranges = ranges_.size() + other.ranges_.size();
  return {1 + ranges / ranges_a_step, ranges * sizeof(Range)};
}

bool ByteIntervals::meets(const ByteIntervals& other) const {
  if (!runs_.empty() && !other.runs_.empty()) {
    bool told = true;
    for (const StridedRun& a : runs_) {
      for (const StridedRun& b : other.runs_) {
        const auto answer = meet(a, b);
        if (answer.value_or(false)) return true;
        told = told && answer;
      }
    }
    if (told) return false;
  }
  const std::vector<Range>& a = ranges_;
  const std::vector<Range>& b = other.ranges_;
  size_t i = 0;
  size_t j = 0;
  while (i < a.size() && j < b.size()) {
    if (a[i].end <= b[j].begin) {
      i = first_reaching(a, i, b[j].begin);
    } else if (b[j].end <= a[i].begin) {
      j = first_reaching(b, j, a[i].begin);
    } else {
      return true;
    }
  }
  return false;
}

ByteIntervals ByteIntervals::with(const ByteIntervals& more) const {
  if (empty()) return more;
  std::vector<Range> both(ranges_.size() + more.ranges_.size());
  std::merge(ranges_.begin(), ranges_.end(), more.ranges_.begin(), more.ranges_.end(), both.begin(),
             starts_before);
  return ByteIntervals(std::move(both));
}

ByteIntervals ByteIntervals::without(const ByteIntervals& gone) const {
  ByteIntervals rest;
  size_t next = 0;
  for (const Range& range : ranges_) {
    int64_t begin = range.begin;
    next = first_reaching(gone.ranges_, next, begin);
    for (size_t i = next; i < gone.ranges_.size() && gone.ranges_[i].begin < range.end; ++i) {
      if (begin < gone.ranges_[i].begin) rest.ranges_.push_back({begin, gone.ranges_[i].begin});
      begin = gone.ranges_[i].end;
    }
    if (begin < range.end) rest.ranges_.push_back({begin, range.end});
  }
  rest.find_runs();
  return rest;
}

}  // namespace sluice
