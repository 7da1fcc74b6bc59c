#include "dro/byte_intervals.hpp"

#include <algorithm>
#include <utility>

namespace sluice::dro {
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

}  // namespace

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
}

std::optional<ByteRange> ByteIntervals::hull() const {
  if (ranges_.empty()) return std::nullopt;
  return ByteRange{ranges_.front().first, ranges_.back().last};
}

bool ByteIntervals::meets(const ByteIntervals& other) const {
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
  return rest;
}

}  // namespace sluice::dro
