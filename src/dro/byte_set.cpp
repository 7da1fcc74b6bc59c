#include "dro/byte_set.hpp"

#include <utility>

#include <fmt/format.h>

#include "base/assert.hpp"

namespace sluice::dro {

ByteSet::ByteSet(ByteIntervals bytes) : hull_(bytes.hull()) {
  if (hull_) listed_ = std::make_shared<const ByteIntervals>(std::move(bytes));
}

ByteSet::ByteSet(const isl::set& bytes) : hull_(dro::hull(bytes)) {
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
  if (hull_->last < other.hull_->first || other.hull_->last < hull_->first) return false;
  if (listed() && other.listed()) return intervals().meets(other.intervals());
  return !yes(set(context).intersect(other.set(context)).is_empty());
}

ByteSet ByteSet::without(const ByteSet& gone, const IslContext& context) const {
  if (!hull_ || !gone.hull_) return *this;
  if (hull_->last < gone.hull_->first || gone.hull_->last < hull_->first) return *this;
  if (listed() && gone.listed()) {
    if (!intervals().meets(gone.intervals())) return *this;
    return ByteSet(intervals().without(gone.intervals()));
  }
  const isl::set rest = coalesced(set(context).subtract(gone.set(context)));
  return rest.is_null() ? *this : ByteSet(rest);
}

bool ByteSet::equals(const ByteSet& other, const IslContext& context) const {
  if (hull_ != other.hull_) return false;
  if (!hull_ || (listed_ && listed_ == other.listed_)) return true;
  if (listed() && other.listed()) return intervals() == other.intervals();
  return yes(set(context).is_equal(other.set(context)));
}

isl::set set_of(const IslContext& context, const ByteIntervals& bytes) {
  const std::vector<ByteRange>& ranges = bytes.ranges();
  isl::set result = empty_bytes(context);
  for (size_t i = 0; i < ranges.size();) {
    // ranges[i] and as many after it as are of its length and at the same distance.
    const int64_t first = ranges[i].first;
    const int64_t length = ranges[i].last - first + 1;
    const int64_t stride = i + 1 < ranges.size() ? ranges[i + 1].first - first : length;
    size_t end = i + 1;
    while (end < ranges.size() && ranges[end].last - ranges[end].first + 1 == length &&
           ranges[end].first - ranges[end - 1].first == stride) {
      ++end;
    }
    const int64_t count = static_cast<int64_t>(end - i);
    result = result.unite(isl::set(
        context.get(), fmt::format("{{ A[o] : exists k : 0 <= k < {} and {} + {} k <= o < {} + {} "
                                   "k }}",
                                   count, first, stride, first + length, stride)));
    i = end;
  }
  return result;
}

}  // namespace sluice::dro
