// Accesses whose blocks each touch a box of a strided array: in plain tables, one entry for each
// block of a row or column of the grid, so that their cost grows with the grid's sides and not with
// its blocks. Most accesses of dense kernels are a few such pieces.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "base/dim3.hpp"
#include "relation/access_loops.hpp"
#include "relation/budget.hpp"
#include "relation/byte_intervals.hpp"

namespace sluice::dro {

// Interval is whole numbers first .. last; empty where last is smaller.
struct Interval {
  int64_t first = 0;
  int64_t last = -1;
  bool empty() const { return last < first; }
  friend bool operator==(const Interval&, const Interval&) = default;
};

// BoxLevel is one dimension of the array: which of its positions a block touches depends on one of
// the block's coordinates, or on none.
struct BoxLevel {
  static constexpr int no_axis = -1;

  int64_t stride = 1;        // bytes from one position to the next
  int axis = no_axis;        // 0: x, 1: y, 2: z
  std::vector<Interval> at;  // positions, by the coordinate of all blocks of the grid; else one
};

// BlockBoxes is one piece of an access: block (x, y, z), if its coordinates lie in `domain`,
// touches the bytes sum of stride * position for all positions that its levels give. No two levels
// have the same axis. Strides are multiples of each other, the largest first, the last is 1.
struct BlockBoxes {
  std::array<Interval, 3> domain;  // by axis; blocks outside touch nothing
  std::vector<BoxLevel> levels;
};

// Boxes are the pieces of one access; they may overlap.
using Boxes = std::vector<BlockBoxes>;

// tidied() brings a piece into a form in which equal accesses look alike: levels that together are
// dense become one, and positions start within the next level's stride. On the way in, levels may
// share an axis. Nothing where they still do, or where numbers grow too large.
std::optional<BlockBoxes> tidied(BlockBoxes piece);

// touches_nothing() is true where every block's box is empty.
bool touches_nothing(const BlockBoxes& piece);

// shifted() is the same `offset` bytes further on; nothing where numbers grow too large.
std::optional<BlockBoxes> shifted(BlockBoxes piece, int64_t offset);

// whole_range() is every block of the grid touching bytes 0 .. bytes - 1.
BlockBoxes whole_range(const Dim3& grid, uint64_t bytes);

// places_of() is how many entries the tables of a piece have: what shifted() takes.
uint64_t places_of(const BlockBoxes& piece);

// bytes_of() lists the bytes that all blocks touch together; nothing past the budget.
std::optional<ByteIntervals> bytes_of(const Boxes& boxes, Budget& budget);

// hull_of() is the smallest range that holds them; nothing where there are none.
std::optional<Range> hull_of(const Boxes& boxes);

// append_runs() lists them by block; false, with `runs` in any state, past the budget.
bool append_runs(const Boxes& boxes, const Dim3& grid, Budget& budget, std::vector<ByteRun>& runs);

}  // namespace sluice::dro
