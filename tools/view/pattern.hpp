// The picture of an edge table: how many edges lead from which part of the masters to which part of
// the slaves.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "dro/edges/edge_table.hpp"

namespace sluice::tools {

// Pattern has a row for each run of slave blocks and a column for each run of master blocks.
struct Pattern {
  static constexpr uint64_t most_cells = 512;  // a side

  // Run is `length` neighbouring cells of a row with `edges` edges each.
  struct Run {
    uint64_t first = 0;
    uint64_t length = 0;
    uint64_t edges = 0;
  };
  uint64_t masters_per_cell = 1;
  uint64_t slaves_per_cell = 1;
  uint64_t columns = 0;
  std::vector<std::vector<Run>> rows;  // without the empty cells
};

Pattern pattern_of(const dro::EdgeTable& table);

}  // namespace sluice::tools
