#include "order.hpp"

#include <algorithm>
#include <cstddef>

namespace sluice::gpu_probe {

std::vector<std::uint32_t> launch_order(TileGrid grid, unsigned steps) {
  std::vector<std::uint32_t> order;
  order.reserve(std::size_t{grid.tiles()} * steps);
  for (unsigned step = 0; step < steps; ++step) {
    for (unsigned tile = 0; tile < grid.tiles(); ++tile) {
      order.push_back(pack_task(step, tile));
    }
  }
  return order;
}

std::vector<std::uint32_t> skewed_order(TileGrid grid, unsigned steps, unsigned depth,
                                        unsigned skew) {
  std::vector<std::uint32_t> order;
  order.reserve(std::size_t{grid.tiles()} * steps);
  for (unsigned first = 0; first < steps; first += depth) {
    const unsigned band = std::min(depth, steps - first);
    const unsigned fronts = grid.height + skew * (band - 1);
    for (unsigned front = 0; front < fronts; ++front) {
      for (unsigned step = 0; step < band; ++step) {
        const unsigned shift = skew * step;
        if (front < shift || front - shift >= grid.height) {
          continue;
        }
        const unsigned row = (front - shift) * grid.width;
        for (unsigned x = 0; x < grid.width; ++x) {
          order.push_back(pack_task(first + step, row + x));
        }
      }
    }
  }
  return order;
}

unsigned skew_for(TileGrid grid, unsigned depth, unsigned workers) {
  const unsigned wanted = 2 * workers;
  // The nearest master of (t, y) is (t - 1, y + 1), skew - 1 fronts earlier; a front of the band's
  // middle holds `depth` rows, and the two rows are one apart within their fronts.
  unsigned skew = 1;
  while ((skew - 1) * depth * grid.width + grid.width < wanted && skew < grid.height) {
    ++skew;
  }
  return skew;
}

bool is_valid_order(const std::vector<std::uint32_t>& order, TileGrid grid, unsigned steps) {
  if (order.size() != std::size_t{grid.tiles()} * steps) {
    return false;
  }
  std::vector<unsigned> done(grid.tiles(), 0);
  for (const std::uint32_t task : order) {
    const unsigned step = task >> task_tile_bits;
    const unsigned tile = task & task_tile_mask;
    if (step >= steps || tile >= grid.tiles() || done[tile] != step) {
      return false;
    }
    const unsigned x = tile % grid.width;
    const unsigned y = tile / grid.width;
    const bool ready = (x == 0 || done[tile - 1] >= step) &&
                       (x + 1 == grid.width || done[tile + 1] >= step) &&
                       (y == 0 || done[tile - grid.width] >= step) &&
                       (y + 1 == grid.height || done[tile + grid.width] >= step);
    if (!ready) {
      return false;
    }
    ++done[tile];
  }
  // Each tile's steps came in turn and none past the last, and the count is right: all are there
  // once.
  return true;
}

}  // namespace sluice::gpu_probe
