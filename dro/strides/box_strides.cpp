// Strides of accesses that are boxes.
#include <utility>

#include "dro/strides/relation_strides.hpp"

namespace sluice::dro {
namespace {

constexpr int64_t most_positions = int64_t{1} << 44;

}  // namespace

std::optional<Strides> strides_of(const Boxes& boxes, const Dim3& grid, Budget& budget) {
  if (grid.y != 1 || grid.z != 1) return std::nullopt;
  Strides strides;
  for (const BlockBoxes& piece : boxes) {
    if (touches_nothing(piece)) continue;
    if (!budget.take(1 + static_cast<uint64_t>(piece.domain[0].last - piece.domain[0].first) / 4))
      return std::nullopt;
    StrideGathering parts(budget);
    for (int64_t x = piece.domain[0].first; x <= piece.domain[0].last; ++x) {
      BlockStrides part;
      bool touches = true;
      for (const BoxLevel& level : piece.levels) {
        // Along y and z the grid has one place.
        const Interval& at = level.at[level.axis == 0 ? static_cast<size_t>(x) : 0];
        touches = touches && !at.empty();
        const int64_t count = at.last - at.first + 1;
        part.byte += level.stride * at.first;
        if (level.stride == 1) part.length = count;
        if (level.stride > 1 && count > 1) part.levels.push_back({count, 0, level.stride});
      }
      if (!touches) continue;
      if (part.length > most_positions / (x + 1) || part.byte < 0) return std::nullopt;
      part.block = part.length;
      part.position = x * part.length;
      if (!parts.add(std::move(part))) return std::nullopt;
    }
    const auto found = parts.finish();
    if (!found) return std::nullopt;
    strides.insert(strides.end(), found->begin(), found->end());
  }
  if (strides.size() > most_parts) return std::nullopt;
  return strides;
}

}  // namespace sluice::dro
