// The cells of the Jacobi probes, for host and device alike.
#pragma once
#include <cstddef>
#include <cstdint>
#include <vector>

#include "order.hpp"

#ifdef __CUDACC__
#define GPU_PROBE_BOTH __host__ __device__
#else
#define GPU_PROBE_BOTH
#endif

namespace sluice::gpu_probe {

// A tile is one task: 2,048 cells, 16 KiB of both arrays together, so that the tiles which some
// hundreds of workers hold at once are a fraction of an L2. A block of 256 threads takes a tile as
// two rows of 128 at a time, which is coalesced.
constexpr int tile_width = 128;
constexpr int tile_height = 16;
constexpr int jacobi_steps = 32;

// A plate of width x height cells, multiples of the tile. Cells on the border keep their value.
struct Plate {
  int width = 0;
  int height = 0;
  GPU_PROBE_BOTH std::size_t cells() const {
    return static_cast<std::size_t>(width) * static_cast<std::size_t>(height);
  }
  TileGrid tiles() const {
    return {static_cast<unsigned>(width / tile_width), static_cast<unsigned>(height / tile_height)};
  }
};

// jacobi_cell() is one step of one cell. Sums only, then one product: nothing that a compiler could
// contract into a fused multiply-add, so host and device agree to the bit.
GPU_PROBE_BOTH inline float jacobi_cell(float above, float below, float left, float right,
                                        float centre) {
  return 0.2f * (((above + below) + (left + right)) + centre);
}

// first_value() is a cell's value before the first step: noise, so that a wrong or old neighbour
// changes the result.
GPU_PROBE_BOTH inline float first_value(std::size_t cell) {
  auto bits = static_cast<std::uint32_t>(cell) * 2654435761u;
  bits ^= bits >> 15;
  return static_cast<float>(bits & 0xFFFFu) * (1.0f / 65536.0f);
}

// plate_of() is the plate, about square, whose two float arrays together come nearest to `bytes`
// from below, and at least one tile.
Plate plate_of(std::size_t bytes);

// host_jacobi() runs the tasks one by one in the given order on the host and returns the array that
// the last of `steps` steps wrote: what every correct order must give.
std::vector<float> host_jacobi(Plate plate, const std::vector<std::uint32_t>& order,
                               unsigned steps);

}  // namespace sluice::gpu_probe
