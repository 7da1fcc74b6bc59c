// An edge table: the block-to-block edges of a DRO in the cheapest form that a device can read.
// Plain data shared by `dro`, which draws it, and `megakernel`, whose workers read it.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "base/dim3.hpp"

namespace sluice::dro {

// EdgeForm says how a slave block finds its masters. Blocks are numbered linearly, x fastest.
enum class EdgeForm : uint32_t {
  neighbours,  // master = slave + one of `offsets`, where both lie in their boxes
  all,         // every slave block of slave_box waits for every master block of master_box
  ranges,      // rows[b] .. rows[b + 1] are the ranges of master blocks of slave block b
};

struct BlockOffset {
  int32_t x = 0;
  int32_t y = 0;
  int32_t z = 0;
  friend bool operator==(const BlockOffset&, const BlockOffset&) = default;
};

// BlockBox is a box of block positions, `last` included.
struct BlockBox {
  uint32_t first_x = 0, first_y = 0, first_z = 0;
  uint32_t last_x = 0, last_y = 0, last_z = 0;
  friend bool operator==(const BlockBox&, const BlockBox&) = default;
};

// BlockRange is a range of linear block numbers, `last` included.
struct BlockRange {
  uint32_t first = 0;
  uint32_t last = 0;
  friend bool operator==(const BlockRange&, const BlockRange&) = default;
};

struct EdgeTable {
  EdgeForm form = EdgeForm::ranges;
  Dim3 master_grid;
  Dim3 slave_grid;
  BlockBox master_box;               // neighbours, all
  BlockBox slave_box;                // neighbours, all
  std::vector<BlockOffset> offsets;  // neighbours
  std::vector<uint32_t> rows;        // ranges: one more than there are slave blocks
  std::vector<BlockRange> ranges;    // ranges: sorted and disjoint within a row
  uint64_t edge_count = 0;           // block-to-block edges, exact
  friend bool operator==(const EdgeTable&, const EdgeTable&) = default;
};

// for_each_master_range() calls visit(first, last) with linear master block numbers that together
// hold every master of the slave blocks first_block .. first_block + block_count - 1. For a single
// block the ranges are exact; for several they may take in more blocks of the same master launch
// (which is earlier, so waiting for more of it is safe) and may overlap.
template <class Visit>
void for_each_master_range(const EdgeTable& table, uint32_t first_block, uint32_t block_count,
                           Visit&& visit);

}  // namespace sluice::dro

#include "dro/edges/edge_table_inline.hpp"
