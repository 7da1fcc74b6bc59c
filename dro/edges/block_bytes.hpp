// The bytes of each block of a launch, listed, and which blocks of two launches they tie together.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "dro/edges/edge_table.hpp"
#include "relation/access_loops.hpp"
#include "relation/byte_intervals.hpp"

namespace sluice::dro {

// BlockBytes lists the bytes that each block touches, blocks by their linear numbers.
class BlockBytes {
 public:
  // The runs may come in any order and overlap.
  BlockBytes(uint32_t blocks, std::vector<ByteRun> runs);
  // cost() is what that takes.
  static Budget::Cost cost(uint32_t blocks, const std::vector<ByteRun>& runs);

  uint32_t blocks() const { return static_cast<uint32_t>(rows_.size() - 1); }
  // size() is how many ranges there are in all.
  size_t size() const { return ranges_.size(); }
  // of() is sorted, and bytes are missing between its ranges.
  std::span<const Range> of(uint32_t block) const {
    return std::span(ranges_).subspan(rows_[block], rows_[block + 1] - rows_[block]);
  }
  // all() is what all blocks touch together.
  ByteIntervals all() const { return ByteIntervals(ranges_); }

 private:
  std::vector<uint32_t> rows_;  // one more than there are blocks
  std::vector<Range> ranges_;
};

// EdgeRows collects, for each block of a later launch, blocks of an earlier one.
class EdgeRows {
 public:
  EdgeRows(const Dim3& master_grid, const Dim3& slave_grid);

  // add() adds the masters of every slave block: those blocks of `earlier` that touch one of its
  // bytes of `later` within `live`. False, with nothing left to use, past the budget.
  bool add(const BlockBytes& later, const BlockBytes& earlier, const ByteIntervals& live,
           Budget& budget);

  // table() is all that was added, as ranges; it ends the collection.
  EdgeTable table() &&;

 private:
  class Collector;
  bool append_row(std::span<const BlockRange> a, std::span<const BlockRange> b, Budget& budget);

  const Dim3 master_grid_, slave_grid_;
  RangeEdges edges_;
};

}  // namespace sluice::dro
