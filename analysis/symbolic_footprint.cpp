#include "analysis/symbolic_footprint.hpp"

#include <utility>

#include "base/assert.hpp"

namespace sluice::analysis {

SymbolicFootprint::SymbolicFootprint(ShapeFamily family, Footprint footprint,
                                     const std::vector<ParameterSlot>& scalars)
    : family_(std::move(family)), source_(std::move(footprint)) {
  SLUICE_ASSERT(!source_.opaque());
  source_.symbols.clear();
  for (const ParameterSlot& scalar : scalars)
    scalar_bytes_.push_back(scalar.size);
}

int64_t SymbolicFootprint::value(const LaunchShape& shape, ShapeNumber number) const {
  return value_of(shape, number, number < scalar_bytes_.size() ? scalar_bytes_[number] : 4);
}

bool SymbolicFootprint::covers(const LaunchShape& shape) const {
  const LaunchShape& of_family = family_.shape;
  if (shape.block != of_family.block ||
      shape.dynamic_shared_bytes != of_family.dynamic_shared_bytes ||
      shape.shape_values.size() != of_family.shape_values.size()) {
    return false;
  }
  const auto numbers = ShapeNumber(shape.shape_values.size() + 3);
  for (ShapeNumber number = 0; number < numbers; ++number) {
    const int64_t asked = value(shape, number);
    const auto symbol = family_.symbol(number);
    const bool fits =
        symbol ? family_.symbols[*symbol].low <= asked && asked <= family_.symbols[*symbol].high
               : asked == value(of_family, number);
    if (!fits) return false;
  }
  return true;
}

Footprint SymbolicFootprint::at(const LaunchShape& shape) const {
  SLUICE_ASSERT(covers(shape));
  Footprint footprint = source_;
  footprint.shape = shape;
  for (const SymbolicNumber& symbol : family_.symbols)
    footprint.symbols.push_back({symbol_name(symbol.number), value(shape, symbol.number)});
  return footprint;
}

}  // namespace sluice::analysis
