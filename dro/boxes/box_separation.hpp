// One piece of a relation, with its parameters put in, taken apart into boxes; see BoxTemplate.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "dro/boxes/block_boxes.hpp"

namespace sluice::dro {

// IntegerForm is a sum of coefficient * variable, plus a constant; as a constraint it is not
// negative. Variables 0 .. 2 are a block's x, y and z, 3 is the byte, the others existential.
struct IntegerForm {
  static constexpr size_t x = 0;
  static constexpr size_t y = 1;
  static constexpr size_t z = 2;
  static constexpr size_t byte = 3;
  static constexpr size_t first_existential = 4;
  static constexpr size_t most_variables = 12;

  std::array<int64_t, most_variables> terms = {};
  int64_t constant = 0;
};

// separate() finds the boxes that the constraints say; nothing where it does not see any, or past
// the budget. A piece without solutions touches nothing.
std::optional<BlockBoxes> separate(const std::vector<IntegerForm>& constraints, size_t variables,
                                   const Dim3& grid, Budget& budget);

}  // namespace sluice::dro
