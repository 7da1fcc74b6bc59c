// Accesses of a row of blocks whose threads are numbered through rows and planes: in closed form, a
// few numbers for each regular part, however many blocks there are.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "base/dim3.hpp"
#include "relation/access_loops.hpp"
#include "relation/budget.hpp"
#include "relation/byte_intervals.hpp"

namespace sluice::dro {

// StrideLevel repeats what is within it, each time so many positions and bytes further on. Neither
// stride is negative.
struct StrideLevel {
  int64_t count = 1;
  int64_t position_stride = 0;
  int64_t byte_stride = 0;
  friend bool operator==(const StrideLevel&, const StrideLevel&) = default;
};

// BlockStrides is one part of an access. Its blocks share out positions, `block` of them to each,
// in their order: as threads are, that go through the elements of a row and then of the next. The
// positions from `position` on touch the bytes from `byte` on, one each, `length` in all; so do
// those of all repetitions by `levels`. A position may stand for a byte in several of these.
//
// So the bytes of a block are those of the runs that its positions meet, known from one division
// for each level.
struct BlockStrides {
  int64_t block = 1;
  int64_t position = 0;
  int64_t byte = 0;
  int64_t length = 0;
  std::vector<StrideLevel> levels;
  friend bool operator==(const BlockStrides&, const BlockStrides&) = default;

  // runs() is how many runs there are. Saturates.
  uint64_t runs() const;
  // last_position() and last_byte() are the largest of either.
  int64_t last_position() const;
  int64_t last_byte() const;
};

// Strides are the parts of one access; they may overlap.
using Strides = std::vector<BlockStrides>;

// More parts of an access are not worth looking for.
inline constexpr size_t most_parts = 64;

// StrideGathering finds the levels of parts that come one after another.
class StrideGathering {
 public:
  explicit StrideGathering(Budget& budget) : budget_(budget) {}

  // add() is false past the budget, or where there is too little order.
  bool add(BlockStrides part);
  // finish() is all that was added. Nothing where there is too little order.
  std::optional<Strides> finish();

 private:
  // Found is `base`, count times; the strides are known from the second on.
  struct Found {
    BlockStrides base;
    StrideLevel level;
  };
  static constexpr size_t most_found = 256;
  bool joins(Found& found, const BlockStrides& part) const;
  static Strides closed(std::vector<Found> all);

  Budget& budget_;
  std::vector<Found> found_;
};

// every_block() is every one of so many blocks touching bytes 0 .. bytes - 1. Nothing where the
// numbers grow too large.
std::optional<BlockStrides> every_block(uint64_t blocks, uint64_t bytes);

// lie_in() is true where no position belongs to a block outside a grid, which is one row of blocks.
bool lie_in(const Strides& strides, const Dim3& grid);

// bytes_of() lists the bytes that all blocks touch together; nothing past the budget.
std::optional<ByteIntervals> bytes_of(const Strides& strides, Budget& budget);

// append_runs() lists them by block; false, with `runs` in any state, past the budget.
bool append_runs(const Strides& strides, Budget& budget, std::vector<ByteRun>& runs);

}  // namespace sluice::dro
