// How many bytes memory brings for the launches of a time tile.
#pragma once

#include <span>

#include "schedule/machine.hpp"
#include "schedule/plan.hpp"

namespace sluice::schedule {

// Of the bytes that memory brings without tiles, or, for tiles that cost workers more than others
// do, with the others: more, and they are not worth it.
constexpr double worth_of_tile = 0.7;

inline std::span<const Launch> launches_of(const TimeTile& tile, std::span<const Launch> launches) {
  return launches.subspan(tile.first, tile.end - tile.first);
}

// bytes_touched() is the sum of what each launch touches, most_bytes() what the heaviest does.
double bytes_touched(std::span<const Launch> launches);
double most_bytes(std::span<const Launch> launches);

// tile_traffic() is how many bytes memory brings for the launches of a tile that has so many parts:
// what the heaviest touches. Where workers share a tile, but no cache, the rest mostly lies in
// another one's, which is as far.
double tile_traffic(std::span<const Launch> launches, uint32_t parts, const Machine& machine);

}  // namespace sluice::schedule
