// How many parts of a size it takes to hold something.
#pragma once

#include <cstdint>

namespace sluice {

// divide_up() is a / b, rounded up; a + b - 1 must fit 64 bits.
constexpr uint64_t divide_up(uint64_t a, uint64_t b) {
  return (a + b - 1) / b;
}

// round_up() is the smallest multiple of `unit` that is no less than `value`; value + unit - 1 must
// fit 64 bits.
constexpr uint64_t round_up(uint64_t value, uint64_t unit) {
  return divide_up(value, unit) * unit;
}

}  // namespace sluice
