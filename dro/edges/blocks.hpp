// Blocks of a grid by position and by linear number, x fastest: what every form of edges is made
// of.
#pragma once

#include <algorithm>
#include <cstdint>
#include <tuple>

#include "base/dim3.hpp"
#include "dro/fields.hpp"

namespace sluice::dro {

struct BlockOffset {
  int32_t x = 0;
  int32_t y = 0;
  int32_t z = 0;
  friend bool operator==(const BlockOffset&, const BlockOffset&) = default;
  // Offsets are sorted as linear numbers are: by z, then y, then x.
  friend bool operator<(const BlockOffset& a, const BlockOffset& b) {
    return std::tie(a.z, a.y, a.x) < std::tie(b.z, b.y, b.x);
  }
};

// BlockBox is a box of block positions, `last` included.
struct BlockBox {
  uint32_t first_x = 0, first_y = 0, first_z = 0;
  uint32_t last_x = 0, last_y = 0, last_z = 0;
  friend bool operator==(const BlockBox&, const BlockBox&) = default;

  // of_grid() is all blocks of a grid.
  static BlockBox of_grid(const Dim3& grid) {
    return {0, 0, 0, grid.x - 1, grid.y - 1, grid.z - 1};
  }
  // joined() is the smallest box that holds both.
  BlockBox joined(const BlockBox& other) const {
    return {std::min(first_x, other.first_x), std::min(first_y, other.first_y),
            std::min(first_z, other.first_z), std::max(last_x, other.last_x),
            std::max(last_y, other.last_y),   std::max(last_z, other.last_z)};
  }
  uint64_t count() const {
    return uint64_t{last_x - first_x + 1} * (last_y - first_y + 1) * (last_z - first_z + 1);
  }
  bool lies_in(const Dim3& grid) const {
    return first_x <= last_x && last_x < grid.x && first_y <= last_y && last_y < grid.y &&
           first_z <= last_z && last_z < grid.z;
  }
  bool has_plane(int64_t z) const { return z >= first_z && z <= last_z; }
  bool has_row(int64_t y, int64_t z) const { return y >= first_y && y <= last_y && has_plane(z); }
};

// BoxPair is a box of slave blocks and one of master blocks.
struct BoxPair {
  BlockBox master;
  BlockBox slave;
  friend bool operator==(const BoxPair&, const BoxPair&) = default;

  // pairs() counts all edges between the boxes.
  uint64_t pairs() const { return master.count() * slave.count(); }
  bool lies_in(const Dim3& master_grid, const Dim3& slave_grid) const {
    return master.lies_in(master_grid) && slave.lies_in(slave_grid);
  }
};

// BlockRange is a range of linear block numbers, `last` included.
struct BlockRange {
  uint32_t first = 0;
  uint32_t last = 0;
  uint64_t count() const { return uint64_t{last} - first + 1; }
  friend bool operator==(const BlockRange&, const BlockRange&) = default;
};

template <>
inline constexpr auto elements<BlockOffset> =
    [](auto& offset) { return std::tie(offset.x, offset.y, offset.z); };
template <>
inline constexpr auto elements<BlockBox> = [](auto& box) {
  return std::tuple(std::tie(box.first_x, box.first_y, box.first_z),
                    std::tie(box.last_x, box.last_y, box.last_z));
};
template <>
inline constexpr auto elements<BlockRange> =
    [](auto& range) { return std::tie(range.first, range.last); };

inline uint32_t linear_block(const Dim3& grid, uint32_t x, uint32_t y, uint32_t z) {
  return x + grid.x * (y + grid.y * z);
}

// for_each_rows() cuts a run of linear block numbers into rows and calls
// rows(first_x, last_x, first_y, last_y, z), with neighbouring whole rows of a plane at once.
template <class Rows>
void for_each_rows(const Dim3& grid, uint32_t first_block, uint64_t block_count, Rows&& rows) {
  uint32_t x = first_block % grid.x;
  uint32_t y = first_block / grid.x % grid.y;
  uint32_t z = first_block / grid.x / grid.y;
  while (block_count > 0) {
    uint32_t last_x = grid.x - 1, count = 1;
    if (x != 0 || block_count < grid.x) {
      last_x = static_cast<uint32_t>(std::min<uint64_t>(x + block_count, grid.x)) - 1;
    } else {
      count = static_cast<uint32_t>(std::min<uint64_t>(block_count / grid.x, grid.y - y));
    }
    rows(x, last_x, y, y + count - 1, z);
    block_count -= uint64_t{last_x - x + 1} * count;
    x = 0;
    y += count;
    if (y == grid.y) {
      y = 0;
      ++z;
    }
  }
}

// for_each_row() calls row(first_x, last_x, y, z) for each of these rows by itself.
template <class Row>
void for_each_row(const Dim3& grid, uint32_t first_block, uint64_t block_count, Row&& row) {
  for_each_rows(
      grid, first_block, block_count,
      [&](uint32_t first_x, uint32_t last_x, uint32_t first_y, uint32_t last_y, uint32_t z) {
        for (uint32_t y = first_y; y <= last_y; ++y)
          row(first_x, last_x, y, z);
      });
}

// RangeMerger joins touching ranges as they come and hands on what can grow no more.
template <class Visit>
class RangeMerger {
 public:
  explicit RangeMerger(Visit& visit) : visit_(visit) {}

  void add(uint32_t first, uint32_t last) {
    if (filled_ && first >= first_ && first <= uint64_t{last_} + 1) {
      last_ = std::max(last_, last);
      return;
    }
    finish();
    first_ = first;
    last_ = last;
    filled_ = true;
  }
  void finish() {
    if (filled_) visit_(first_, last_);
    filled_ = false;
  }

 private:
  Visit& visit_;
  uint32_t first_ = 0;
  uint32_t last_ = 0;
  bool filled_ = false;
};

}  // namespace sluice::dro
