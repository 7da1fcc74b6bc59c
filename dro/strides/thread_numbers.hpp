// Which variable of a piece of a relation numbers the threads of all blocks.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "dro/boxes/box_separation.hpp"

namespace sluice::dro {

// ThreadNumbers says that block x has the values block * x + first and up to `last` beyond
// block * x of one variable, and that the block matters for nothing else.
struct ThreadNumbers {
  size_t variable = 0;
  int64_t block = 1;
  int64_t first = 0;
  int64_t last = 0;
  // Constraints without x, but for those of `tiles`, which say the above.
  std::vector<IntegerForm> forms;
  std::vector<IntegerForm> tiles;

  // are_all() is true where every value belongs to a block, so that it alone tells the block.
  bool are_all() const { return last - first + 1 == block; }
};

// thread_numbers() finds them in constraints that have neither y nor z; nothing where there is no
// such variable, or where blocks share its values.
std::optional<ThreadNumbers> thread_numbers(const std::vector<IntegerForm>& constraints,
                                            size_t variables);

}  // namespace sluice::dro
