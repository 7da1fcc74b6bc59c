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

isl::set ByteSet::set(const IslContext& context, Budget& budget) const {
  return listed() ? set_of(context, intervals(), budget) : set_;
}

bool ByteSet::meets(const ByteSet& other, const IslContext& context, Budget& budget) const {
  if (!hull_ || !other.hull_) return false;
  if (!hull_->meets(*other.hull_)) return false;
  if (listed() && other.listed()) {
    const Budget::Cost cost = intervals().meeting_cost(other.intervals());
    return !budget.take(cost.steps, cost.bytes) || intervals().meets(other.intervals());
  }
  const IslWork work(context, budget);
  return !yes(set(context, budget).intersect(other.set(context, budget)).is_empty());
}

ByteSet ByteSet::without(const ByteSet& gone, const IslContext& context, Budget& budget) const {
  if (!hull_ || !gone.hull_) return *this;
  if (!hull_->meets(*gone.hull_)) return *this;
  if (listed() && gone.listed()) {
    if (!meets(gone, context, budget)) return *this;
    const Budget::Cost cost = intervals().merging_cost(gone.intervals());
    if (!budget.take(cost.steps, cost.bytes)) return *this;
    return ByteSet(intervals().without(gone.intervals()));
  }
  const IslWork work(context, budget);
  const isl::set rest = coalesced(set(context, budget).subtract(gone.set(context, budget)));
  return rest.is_null() ? *this : ByteSet(rest);
}

bool ByteSet::is_copy_of(const ByteSet& other) const {
  if (!hull_ || !other.hull_) return !hull_ && !other.hull_;
  return listed_ == other.listed_ && set_.get() == other.set_.get();
}

bool ByteSet::equals(const ByteSet& other, const IslContext& context, Budget& budget) const {
  if (hull_ != other.hull_) return false;
  if (is_copy_of(other)) return true;
  if (listed() && other.listed()) {
    if (intervals().ranges().size() != other.intervals().ranges().size()) return false;
    return budget.take(intervals().merging_cost(other.intervals()).steps) &&
           intervals() == other.intervals();
  }
  const IslWork work(context, budget);
  return yes(set(context, budget).is_equal(other.set(context, budget)));
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

// What isl takes to read a piece's text, beside its operations.
constexpr uint64_t steps_of_text = 100;

}  // namespace

isl::set set_of(const IslContext& context, const ByteIntervals& bytes, Budget& budget) {
  const IslWork work(context, budget);
  if (!budget.make<StridedRun>(bytes.ranges().size(), longest_period)) return {};
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
      if (result.is_null() || !budget.take(steps_of_text)) return {};
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
