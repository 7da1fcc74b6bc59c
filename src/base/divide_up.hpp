// How many parts of a size it takes to hold something.
#pragma once

#include <cstdint>

namespace sluice {

// divide_up() is a / b, rounded up; a + b - 1 must fit 64 bits.
constexpr uint64_t divide_up(uint64_t a, uint64_t b) {
  return (a + b - 1) / b;
}

}  // namespace sluice
