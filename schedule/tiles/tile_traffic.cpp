#include "schedule/tiles/tile_traffic.hpp"

#include <algorithm>
#include <cstdint>

namespace sluice::schedule {
namespace {

double bytes_of(const Launch& launch) {
  uint64_t bytes = 0;
  for (const TouchedBuffer& buffer : launch.touched)
    bytes += buffer.bytes;
  return static_cast<double>(bytes);
}

}  // namespace

double bytes_touched(std::span<const Launch> launches) {
  double bytes = 0;
  for (const Launch& launch : launches)
    bytes += bytes_of(launch);
  return bytes;
}

double most_bytes(std::span<const Launch> launches) {
  double most = 0;
  for (const Launch& launch : launches)
    most = std::max(most, bytes_of(launch));
  return most;
}

double tile_traffic(std::span<const Launch> launches, uint32_t parts, const Machine& machine) {
  const double most = most_bytes(launches);
  if (parts > 1 || machine.cache_bytes > machine.own_cache_bytes) return most;
  return most + (bytes_touched(launches) - most) * (1 - 1.0 / machine.workers);
}

}  // namespace sluice::schedule
