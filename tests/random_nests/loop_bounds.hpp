// Where random loops begin and end.
#pragma once

#include "expressions.hpp"

namespace sluice::nests {

struct Bounds {
  Value start, bound, step;
  bool down = false;

  // rounds() is how many there are at most.
  int64_t rounds() const;
  // counter() is what is known of the variable in the loop's body, after() behind the loop.
  Variable counter(const Statement& loop, bool uniform) const;
  Variable after(const Variable& counter) const;
};

// strided() goes in strides of all threads from the thread's own place or, inside other loops,
// from where an outer one stands.
Bounds strided(const Nest& nest, Expressions& expressions, Dice& dice, bool inside_others);

// counted() goes a few rounds, often up to an outer loop's variable.
Bounds counted(Expressions& expressions, Dice& dice, bool uniform, int64_t most);

}  // namespace sluice::nests
