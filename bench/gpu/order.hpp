// Orders in which a worker loop may take the tasks of a chain of stencil steps.
//
// A task is one tile of one step. It waits for the same tile and its four neighbours of the step
// before; since steps alternate between two arrays, the same five also protect what they read from
// being overwritten. Host code only, so that it can be tested without a GPU.
#pragma once
#include <cstdint>
#include <vector>

namespace sluice::gpu_probe {

// Tiles across and down.
struct TileGrid {
  unsigned width = 0;
  unsigned height = 0;
  unsigned tiles() const { return width * height; }
};

// A task is packed into 32 bits for the device: the step above, the tile (row by row) below.
constexpr unsigned task_tile_bits = 24;
constexpr unsigned task_tile_mask = (1u << task_tile_bits) - 1;

constexpr std::uint32_t pack_task(unsigned step, unsigned tile) {
  return step << task_tile_bits | tile;
}

// launch_order() takes step after step, each row by row, as a row of launches does.
std::vector<std::uint32_t> launch_order(TileGrid grid, unsigned steps);

// skewed_order() is time skewing by rows (Wonnacott's and Wolf and Lam's transformation): bands of
// `depth` steps; within a band a front v runs over v = y + skew * (t - t0), and takes the rows
// of all the band's steps that lie on it, earlier steps first. With skew 1 a row of step t is taken
// right after the row below of step t - 1, which it waits for; a larger skew puts `skew - 1` fronts
// between the two. `depth` and `skew` are at least 1; a last band may be shallower.
std::vector<std::uint32_t> skewed_order(TileGrid grid, unsigned steps, unsigned depth,
                                        unsigned skew);

// skew_for() is the smallest skew that puts at least twice `workers` tickets between a task and the
// nearest that it waits for, so that a worker seldom has to wait: each holds the ticket that it
// runs and the one that it fetched ahead. A larger skew would only keep more data alive.
unsigned skew_for(TileGrid grid, unsigned depth, unsigned workers);

// is_valid_order() says whether every task of `steps` steps is there exactly once and after all
// that it waits for: what makes a worker loop free of deadlock.
bool is_valid_order(const std::vector<std::uint32_t>& order, TileGrid grid, unsigned steps);

}  // namespace sluice::gpu_probe
