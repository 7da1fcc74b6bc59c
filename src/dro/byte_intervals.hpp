// Sets of bytes as lists of ranges, for what is small enough to be listed.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "dro/types.hpp"

namespace sluice::dro {

// ByteIntervals is a set of bytes as sorted ranges between which bytes are missing, so that equal
// sets are equal lists. Each operation takes time in proportion to its operands' ranges.
class ByteIntervals {
 public:
  ByteIntervals() = default;
  // The ranges may come in any order and overlap.
  explicit ByteIntervals(std::vector<ByteRange> ranges);

  const std::vector<ByteRange>& ranges() const { return ranges_; }
  bool empty() const { return ranges_.empty(); }
  std::optional<ByteRange> hull() const;

  // meets() is true where both hold some byte.
  bool meets(const ByteIntervals& other) const;
  ByteIntervals without(const ByteIntervals& gone) const;

  friend bool operator==(const ByteIntervals&, const ByteIntervals&) = default;

 private:
  std::vector<ByteRange> ranges_;
};

// merge_ranges() sorts ranges and joins those that overlap or touch.
void merge_ranges(std::vector<ByteRange>& ranges);

}  // namespace sluice::dro
