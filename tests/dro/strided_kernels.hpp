// Random accesses to arrays of rows and planes, as text and as explicit bytes.
#pragma once

#include <array>
#include <string>

#include "dro/brute_force.hpp"

namespace sluice::dro::testing {

// StridedArray is an array of planes of rows; all launches of a test share one.
struct StridedArray {
  long element = 1;  // bytes
  long columns = 8;
  long rows = 8;
  long planes = 1;
};

// StridedGenerator makes accesses as dense kernels have them: blocks are tiles of rows, columns and
// planes, shifted, widened by a halo, cut off at guards, or running along one direction only.
class StridedGenerator {
 public:
  explicit StridedGenerator(uint32_t seed) : dice_(seed) {}

  long pick(long first, long last) { return dice_.pick(first, last); }

  StridedArray array() {
    return {pick(1, 2), pick(5, 12), pick(4, 8), pick(0, 3) == 0 ? pick(2, 3) : 1};
  }
  Dim3 grid(const StridedArray& array) {
    return {static_cast<uint32_t>(pick(1, 4)), static_cast<uint32_t>(pick(1, 3)),
            array.planes > 1 ? static_cast<uint32_t>(pick(1, 2)) : 1};
  }

  // access() has up to three random pieces.
  RandomAccess access(const StridedArray& array, const Dim3& grid) {
    Piece first = piece(array);
    RandomAccess made;
    made.bytes.assign(grid.count(), {});
    add(first, array, grid, made);
    // A stencil's other pieces are the first, moved.
    for (long more = pick(0, 2); more > 0; --more) {
      Piece moved = first;
      moved.shift[static_cast<size_t>(pick(0, 2))] += pick(-1, 1);
      add(moved, array, grid, made);
    }
    made.relation = "{ " + made.relation + " }";
    return made;
  }

  // tiles() cuts the array into one tile for each block, some with a halo and some whole.
  RandomAccess tiles(const StridedArray& array, const Dim3& grid) {
    const std::array<long, 3> extents = {array.columns, array.rows, array.planes};
    const std::array<uint32_t, 3> blocks = {grid.x, grid.y, grid.z};
    const long border = pick(0, 1);
    Piece made;
    for (size_t i = 0; i < 3; ++i) {
      Direction& direction = made.directions[i];
      const long halo = pick(0, 1);
      direction.axis = pick(0, 7) == 0 ? -1 : static_cast<int>(i);
      direction.tile = (extents[i] + blocks[i] - 1) / blocks[i];
      direction.begin = direction.axis < 0 ? 0 : -halo;
      direction.width = direction.axis < 0 ? extents[i] : direction.tile + 2 * halo;
      direction.low = i < 2 ? border : 0;
      direction.high = extents[i] - 1 - direction.low;
    }
    RandomAccess access;
    access.bytes.assign(grid.count(), {});
    add(made, array, grid, access);
    access.relation = "{ " + access.relation + " }";
    return access;
  }

 private:
  // Direction is which positions a block touches: tile * coordinate + begin + 0 .. width - 1, from
  // `low` to `high`.
  struct Direction {
    int axis = -1;  // of the block; -1: none
    long tile = 0;
    long begin = 0;
    long width = 1;
    long low = 0;
    long high = 0;
  };
  struct Piece {
    std::array<Direction, 3> directions;  // columns, rows, planes
    std::array<long, 3> shift = {};
  };

  Piece piece(const StridedArray& array) {
    const std::array<long, 3> extents = {array.columns, array.rows, array.planes};
    std::array<int, 3> axes = {0, 1, 2};
    if (pick(0, 3) == 0) std::swap(axes[0], axes[1]);
    Piece made;
    for (size_t i = 0; i < 3; ++i) {
      Direction& direction = made.directions[i];
      const long extent = extents[i];
      direction.axis = pick(0, 5) == 0 ? -1 : axes[i];
      direction.tile = pick(1, 3);
      direction.begin = pick(-1, 1);
      direction.width = direction.axis < 0 ? pick(1, extent) : direction.tile + pick(-1, 2);
      direction.low = pick(0, 2) == 0 ? pick(0, 1) : -20;
      direction.high = pick(0, 2) == 0 ? extent - 1 - pick(0, 1) : 40;
    }
    return made;
  }

  void add(const Piece& piece, const StridedArray& array, const Dim3& grid, RandomAccess& access) {
    const std::array<std::string, 3> axis_names = {"x", "y", "z"}, names = {"i", "j", "k"};
    const std::array<uint32_t, 3> extents = {grid.x, grid.y, grid.z};
    std::string text = access.relation.empty() ? "" : "; ";
    text += "B[x, y, z] -> A[o] : exists i, j, k : ";
    for (size_t i = 0; i < 3; ++i) {
      const Direction& direction = piece.directions[i];
      const std::string start =
          std::to_string(direction.begin) +
          (direction.axis < 0 ? ""
                              : " + " + std::to_string(direction.tile) +
                                    axis_names[static_cast<size_t>(direction.axis)]);
      text += "0 <= " + axis_names[i] + " < " + std::to_string(extents[i]) + " and " + start +
              " <= " + names[i] + " < " + start + " + " + std::to_string(direction.width) +
              " and " + std::to_string(direction.low) + " <= " + names[i] +
              " <= " + std::to_string(direction.high) + " and ";
    }
    const long row = array.element * array.columns, plane = row * array.rows;
    const long base =
        array.element * piece.shift[0] + row * piece.shift[1] + plane * piece.shift[2];
    const std::string byte = std::to_string(array.element) + " i + " + std::to_string(row) +
                             " j + " + std::to_string(plane) + " k + " + std::to_string(base);
    text += byte + " <= o < " + byte + " + " + std::to_string(array.element);
    access.relation += text;
    for (uint32_t block = 0; block < grid.count(); ++block) {
      const std::array<long, 3> at = {block % grid.x, block / grid.x % grid.y,
                                      block / grid.x / grid.y};
      std::array<std::pair<long, long>, 3> range;
      for (size_t i = 0; i < 3; ++i) {
        const Direction& direction = piece.directions[i];
        const long start =
            direction.begin +
            (direction.axis < 0 ? 0 : direction.tile * at[static_cast<size_t>(direction.axis)]);
        range[i] = {std::max(start, direction.low),
                    std::min(start + direction.width - 1, direction.high)};
      }
      for (long k = range[2].first; k <= range[2].second; ++k) {
        for (long j = range[1].first; j <= range[1].second; ++j) {
          for (long i = range[0].first; i <= range[0].second; ++i) {
            for (long e = 0; e < array.element; ++e)
              access.bytes[block].insert(array.element * i + row * j + plane * k + base + e);
          }
        }
      }
    }
  }

  Generator dice_;
};

}  // namespace sluice::dro::testing
