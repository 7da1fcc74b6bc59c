// What constraints tell of how large a sum can get.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "dro/boxes/block_boxes.hpp"
#include "dro/boxes/box_separation.hpp"

namespace sluice::dro {

// add_product() adds factor * times; false where numbers grow too large.
bool add_product(int64_t& sum, int64_t factor, int64_t times);

// FormBounds finds bounds of forms in constraints. Existential variables have levels, from the
// smallest stride to the largest.
struct FormBounds {
  std::vector<IntegerForm> sources;  // constraints
  std::vector<size_t> by_stride;     // existential variables, ascending by their strides

  // top() is the place after the form's outermost existential variable in by_stride; 0 without.
  size_t top(const IntegerForm& form) const;

  // bounds() are bounds of a form, without its constant, of levels below `below`: as a constraint
  // tells them, or as those of its parts do. Constraints of that level or outer ones are no sources
  // for it: they may be what is being rewritten.
  std::optional<Interval> bounds(const IntegerForm& form, size_t below) const;

  // split() parts a form into the terms that `divisor` divides, and the rest, without the constant.
  static void split(const IntegerForm& form, int64_t divisor, IntegerForm& outer,
                    IntegerForm& rest);

 private:
  std::optional<Interval> told_bounds(const IntegerForm& form, size_t below) const;
};

}  // namespace sluice::dro
