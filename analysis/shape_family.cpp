#include "analysis/shape_family.hpp"

#include <array>

#include <fmt/format.h>

namespace sluice::analysis {
namespace {

std::array<uint32_t, 3> grid_of(const LaunchShape& shape) {
  return {shape.grid.x, shape.grid.y, shape.grid.z};
}

}  // namespace

std::optional<uint32_t> ShapeFamily::symbol(ShapeNumber number) const {
  for (uint32_t i = 0; i < symbols.size(); ++i) {
    if (symbols[i].number == number) return i;
  }
  return std::nullopt;
}

std::optional<uint32_t> ShapeFamily::grid_symbol(unsigned dimension) const {
  return symbol(ShapeNumber(shape.shape_values.size()) + dimension);
}

uint32_t ShapeFamily::largest_grid(unsigned dimension) const {
  if (const auto index = grid_symbol(dimension)) return uint32_t(symbols[*index].high);
  return grid_of(shape)[dimension];
}

int64_t value_of(const LaunchShape& shape, ShapeNumber number, uint32_t bytes) {
  if (number >= shape.shape_values.size()) {
    return grid_of(shape)[number - shape.shape_values.size()];
  }
  const uint64_t value = shape.shape_values[number];
  const unsigned unused = 64 - 8 * bytes;
  return int64_t(value << unused) >> unused;
}

std::string symbol_name(ShapeNumber number) {
  return fmt::format("s{}", number);
}

}  // namespace sluice::analysis
