#include "relation/byte_set.hpp"

#include <utility>

#include <fmt/format.h>

#include "base/assert.hpp"

namespace sluice {

ByteSet::ByteSet(ByteIntervals bytes) : hull_(bytes.hull()) {
  if (hull_) listed_ = std::make_shared<const ByteIntervals>(std::move(bytes));
}

ByteSet::ByteSet(const isl::set& bytes) : hull_(sluice::hull(bytes)) {
  if (hull_) set_ = bytes;
}

const ByteIntervals& ByteSet::intervals() const {
  static const ByteIntervals none;
  SLUICE_ASSERT(listed());
  return listed_ ? *listed_ : none;
}

isl::set ByteSet::set(const IslContext& context) const {
  return listed() ? set_of(context, intervals()) : set_;
}

bool ByteSet::meets(const ByteSet& other, const IslContext& context) const {
  if (!hull_ || !other.hull_) return false;
  if (!hull_->meets(*other.hull_)) return false;
  if (listed() && other.listed()) return intervals().meets(other.intervals());
  return !yes(set(context).intersect(other.set(context)).is_empty());
}

ByteSet ByteSet::without(const ByteSet& gone, const IslContext& context) const {
  if (!hull_ || !gone.hull_) return *this;
  if (!hull_->meets(*gone.hull_)) return *this;
  if (listed() && gone.listed()) {
    if (!intervals().meets(gone.intervals())) return *this;
    return ByteSet(intervals().without(gone.intervals()));
  }
  const isl::set rest = coalesced(set(context).subtract(gone.set(context)));
  return rest.is_null() ? *this : ByteSet(rest);
}

bool ByteSet::is_copy_of(const ByteSet& other) const {
  if (!hull_ || !other.hull_) return !hull_ && !other.hull_;
  return listed_ == other.listed_ && set_.get() == other.set_.get();
}

bool ByteSet::equals(const ByteSet& other, const IslContext& context) const {
  if (hull_ != other.hull_) return false;
  if (is_copy_of(other)) return true;
  if (listed() && other.listed()) return intervals() == other.intervals();
  return yes(set(context).is_equal(other.set(context)));
}

namespace {

// repeats() is how often the runs begin .. begin + period - 1 stand there one after the other, each
// time as far on as the time before.
size_t repeats(const std::vector<StridedRun>& runs, size_t begin, size_t period) {
  size_t end = begin + period;
  const auto follows = [&](size_t i) {
    return i < runs.size() && runs[i].looks_like(runs[i - period]) &&
           runs[i].first - runs[i - period].first == runs[begin + period].first - runs[begin].first;
  };
  while (follows(end))
    ++end;
  return (end - begin) / period;
}

constexpr size_t longest_period = 4;

}  // namespace

isl::set set_of(const IslContext& context, const ByteIntervals& bytes) {
  const std::vector<StridedRun> runs = strided_runs(bytes.ranges(), SIZE_MAX);
  isl::set result = empty_bytes(context);
  for (size_t i = 0; i < runs.size();) {
    size_t period = 1;
    for (size_t longer = 2; longer <= longest_period && i + longer <= runs.size(); ++longer) {
      const size_t times = repeats(runs, i, longer);
      if (times > 2 && times * longer > repeats(runs, i, period) * period) period = longer;
    }
    const size_t times = repeats(runs, i, period);
    const int64_t distance = times > 1 ? runs[i + period].first - runs[i].first : 0;
    for (size_t j = i; j < i + period; ++j) {
      result = result.unite(isl::set(
          context.get(), fmt::format("{{ A[o] : exists k, l : 0 <= k < {} and 0 <= l < {} and "
                                     "{} + {} k + {} l <= o < {} + {} k + {} l }}",
                                     runs[j].count, times, runs[j].first, runs[j].stride, distance,
                                     runs[j].first + runs[j].length, runs[j].stride, distance)));
    }
    i += period * times;
  }
  return result;
}

}  // namespace sluice
