// Extents and positions of grids and blocks, x fastest as in CUDA.
#pragma once

#include <cstdint>

namespace sluice {

struct Dim3 {
  uint32_t x = 1;
  uint32_t y = 1;
  uint32_t z = 1;

  // count() is the number of points of the box, in 64 bits (a grid may hold 2^31 * 2^16 * 2^16).
  uint64_t count() const { return uint64_t{x} * y * z; }
  friend bool operator==(const Dim3&, const Dim3&) = default;
};

}  // namespace sluice
