// Sets of bytes of one buffer, listed where that is short and isl's where it is not.
#pragma once

#include <memory>
#include <optional>

#include "relation/budget.hpp"
#include "relation/byte_intervals.hpp"
#include "relation/isl_context.hpp"

namespace sluice {

// ByteSet is a value; copies share the list. Operations on two listed sets take no isl. Where the
// budget is spent, each operation says what errs on the side of more order.
class ByteSet {
 public:
  ByteSet() = default;  // no bytes
  explicit ByteSet(ByteIntervals bytes);
  explicit ByteSet(const isl::set& bytes);  // { A[o] }

  bool listed() const { return set_.is_null(); }
  const ByteIntervals& intervals() const;  // of a listed set
  // set() is the same for isl; of a listed set it is made afresh. Null past the budget.
  isl::set set(const IslContext& context, Budget& budget) const;

  const std::optional<Range>& hull() const { return hull_; }
  bool empty() const { return !hull_; }

  // meets() is true where both hold some byte, or the budget is spent.
  bool meets(const ByteSet& other, const IslContext& context, Budget& budget) const;
  // without() takes bytes out; where the budget is spent, the set stays as it was.
  ByteSet without(const ByteSet& gone, const IslContext& context, Budget& budget) const;
  // is_copy_of() is true where both share what they hold: they are equal, which takes no look.
  bool is_copy_of(const ByteSet& other) const;
  // equals() is false where the budget is spent.
  bool equals(const ByteSet& other, const IslContext& context, Budget& budget) const;

 private:
  std::shared_ptr<const ByteIntervals> listed_;  // null where set_ is not, or where it is empty
  isl::set set_;
  std::optional<Range> hull_;
};

// set_of() is a list as an isl set, with few pieces where equal ranges stand at equal distances.
// Null past the budget.
isl::set set_of(const IslContext& context, const ByteIntervals& bytes, Budget& budget);

}  // namespace sluice
