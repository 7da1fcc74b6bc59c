// Division as isl and geometry mean it, where C++ rounds towards zero.
#pragma once

#include <cstdint>

namespace sluice {

// floor_divide() is the largest integer that is not above a / b; b is not 0.
template <class Integer>
constexpr Integer floor_divide(Integer a, Integer b) {
  const Integer quotient = a / b;
  return a % b != 0 && (a < 0) != (b < 0) ? quotient - 1 : quotient;
}

}  // namespace sluice
