#include "relation/byte_intervals.hpp"

#include <algorithm>
#include <utility>

#include "base/floor_divide.hpp"

namespace sluice {
namespace {

bool starts_before(const ByteRange& a, const ByteRange& b) {
  return a.first < b.first;
}

// first_reaching() is the first range at or after `from` that ends at `byte` or later. It gallops,
// so that a few ranges met with many cost a few steps.
size_t first_reaching(const std::vector<ByteRange>& ranges, size_t from, int64_t byte) {
  size_t step = 1;
  size_t end = from;
  while (end < ranges.size() && ranges[end].last < byte) {
    from = end + 1;
    end += step;
    step *= 2;
  }
  end = std::min(end, ranges.size());
  const auto found =
      std::lower_bound(ranges.begin() + static_cast<std::ptrdiff_t>(from),
                       ranges.begin() + static_cast<std::ptrdiff_t>(end), byte,
                       [](const ByteRange& range, int64_t value) { return range.last < value; });
  return static_cast<size_t>(found - ranges.begin());
}

// Sets of more ranges are looked at by runs, if these are not more.
constexpr size_t many_ranges = 16;
constexpr size_t few_runs = 4;

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

std::vector<StridedRun> strided_runs(const std::vector<ByteRange>& ranges, size_t most) {
  std::vector<StridedRun> runs;
  for (size_t i = 0; i < ranges.size() && runs.size() <= most;) {
    StridedRun run{ranges[i].first, ranges[i].last - ranges[i].first + 1, 0, 1};
    run.stride = i + 1 < ranges.size() ? ranges[i + 1].first - run.first : run.length;
    size_t end = i + 1;
    while (end < ranges.size() && ranges[end].last - ranges[end].first + 1 == run.length &&
           ranges[end].first - ranges[end - 1].first == run.stride) {
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

void merge_ranges(std::vector<ByteRange>& ranges) {
  if (ranges.empty()) return;
  if (!std::is_sorted(ranges.begin(), ranges.end(), starts_before)) {
    std::sort(ranges.begin(), ranges.end(), starts_before);
  }
  size_t kept = 0;
  for (size_t i = 1; i < ranges.size(); ++i) {
    if (ranges[i].first <= ranges[kept].last + 1) {
      ranges[kept].last = std::max(ranges[kept].last, ranges[i].last);
    } else {
      ranges[++kept] = ranges[i];
    }
  }
  ranges.resize(kept + 1);
}

ByteIntervals::ByteIntervals(std::vector<ByteRange> ranges) : ranges_(std::move(ranges)) {
  merge_ranges(ranges_);
  ranges_.shrink_to_fit();
  find_runs();
}

std::optional<ByteRange> ByteIntervals::hull() const {
  if (ranges_.empty()) return std::nullopt;
  return ByteRange{ranges_.front().first, ranges_.back().last};
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
  const std::vector<ByteRange>& a = ranges_;
  const std::vector<ByteRange>& b = other.ranges_;
  size_t i = 0;
  size_t j = 0;
  while (i < a.size() && j < b.size()) {
    if (a[i].last < b[j].first) {
      i = first_reaching(a, i, b[j].first);
    } else if (b[j].last < a[i].first) {
      j = first_reaching(b, j, a[i].first);
    } else {
      return true;
    }
  }
  return false;
}

ByteIntervals ByteIntervals::with(const ByteIntervals& more) const {
  if (empty()) return more;
  std::vector<ByteRange> both(ranges_.size() + more.ranges_.size());
  std::merge(ranges_.begin(), ranges_.end(), more.ranges_.begin(), more.ranges_.end(), both.begin(),
             starts_before);
  return ByteIntervals(std::move(both));
}

ByteIntervals ByteIntervals::without(const ByteIntervals& gone) const {
  ByteIntervals rest;
  size_t next = 0;
  for (const ByteRange& range : ranges_) {
    int64_t first = range.first;
    next = first_reaching(gone.ranges_, next, first);
    for (size_t i = next; i < gone.ranges_.size() && gone.ranges_[i].first <= range.last; ++i) {
      if (first < gone.ranges_[i].first) {
        rest.ranges_.push_back({first, gone.ranges_[i].first - 1});
      }
      first = gone.ranges_[i].last + 1;
    }
    if (first <= range.last) rest.ranges_.push_back({first, range.last});
  }
  rest.find_runs();
  return rest;
}

}  // namespace sluice
