// Launch shapes that differ in a few numbers only, such as the pivot of an elimination.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "analysis/footprint.hpp"

namespace sluice::analysis {

// The numbers of a shape: its shape scalars in the signature's order, then grid.x, grid.y and
// grid.z.
using ShapeNumber = uint32_t;

// SymbolicNumber is a number of a shape that stays a parameter while a kernel is analysed.
struct SymbolicNumber {
  ShapeNumber number = 0;
  int64_t low = 0;  // what the analysis may assume of it: low <= value <= high
  int64_t high = 0;
};

// ShapeFamily is all shapes that equal `shape` but for the symbolic numbers, each in its range.
struct ShapeFamily {
  LaunchShape shape;
  std::vector<SymbolicNumber> symbols;  // ascending by number; empty: the one shape

  // symbol() is the index into `symbols` of a number, if it is symbolic.
  std::optional<uint32_t> symbol(ShapeNumber number) const;
  // grid_symbol() is the same for an extent of the grid (0 to 2).
  std::optional<uint32_t> grid_symbol(unsigned dimension) const;
  // largest_grid() is an extent of the grid that none of the family exceeds.
  uint32_t largest_grid(unsigned dimension) const;
};

// value_of() is a number of a shape; scalars of the given size in bytes are taken as signed.
int64_t value_of(const LaunchShape& shape, ShapeNumber number, uint32_t bytes);

// symbol_name() is what a symbolic number is called in a relation.
std::string symbol_name(ShapeNumber number);

}  // namespace sluice::analysis
