#include "jacobi.hpp"

#include <algorithm>
#include <array>
#include <cmath>

namespace sluice::gpu_probe {
namespace {

void run_task(Plate plate, unsigned tile, const std::vector<float>& in, std::vector<float>& out) {
  const unsigned across = plate.tiles().width;
  const int left = static_cast<int>(tile % across) * tile_width;
  const int top = static_cast<int>(tile / across) * tile_height;
  for (int y = std::max(top, 1); y < std::min(top + tile_height, plate.height - 1); ++y) {
    for (int x = std::max(left, 1); x < std::min(left + tile_width, plate.width - 1); ++x) {
      const std::size_t row = static_cast<std::size_t>(plate.width);
      const std::size_t cell = static_cast<std::size_t>(y) * row + static_cast<std::size_t>(x);
      out[cell] = jacobi_cell(in[cell - row], in[cell + row], in[cell - 1], in[cell + 1], in[cell]);
    }
  }
}

}  // namespace

Plate plate_of(std::size_t bytes) {
  const double side = std::sqrt(static_cast<double>(bytes) / (2 * sizeof(float)));
  const int across = std::max(1, static_cast<int>(std::lround(side / tile_width)));
  const double column = static_cast<double>(bytes) / (2 * sizeof(float)) / (across * tile_width);
  const int down = std::max(1, static_cast<int>(column / tile_height));
  return {across * tile_width, down * tile_height};
}

std::vector<float> host_jacobi(Plate plate, const std::vector<std::uint32_t>& order,
                               unsigned steps) {
  std::array<std::vector<float>, 2> arrays;
  arrays[0].resize(plate.cells());
  for (std::size_t cell = 0; cell < plate.cells(); ++cell) {
    arrays[0][cell] = first_value(cell);
  }
  arrays[1] = arrays[0];
  for (const std::uint32_t task : order) {
    const unsigned step = task >> task_tile_bits;
    run_task(plate, task & task_tile_mask, arrays[step % 2], arrays[(step + 1) % 2]);
  }
  return arrays[steps % 2];
}

}  // namespace sluice::gpu_probe
