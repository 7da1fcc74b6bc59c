// A 2D 5-point Jacobi iteration with the CUDA runtime API.
#include "stencil.hpp"
#include "stencil_kernel.cuh"

int main(int argc, char** argv) {
  Options options;
  sample::Repeats repeats;
  sample::parse_options("stencil", argc, argv, sample::with_repeats(option_list(options), repeats));
  require_block(options);

  const int n = options.size;
  const std::vector<float> start = start_pattern(n);
  float* const grids[] = {sample::upload(start), sample::upload(start)};

  const dim3 threads(options.block_x, options.block_y);
  const dim3 blocks(sample::divide_up(n, threads.x), sample::divide_up(n, threads.y));
  const auto reset = [&] {
    for (float* grid : grids)
      sample::upload(start, grid);
  };
  const auto steps = [&](cudaStream_t stream) {
    for (int t = 0; t < options.iterations; ++t)
      stencil<<<blocks, threads, 0, stream>>>(grids[t % 2], grids[(t + 1) % 2], n);
  };
  const double seconds = sample::timed(repeats, reset, steps);

  const std::vector<float> result = sample::download(grids[options.iterations % 2], start.size());
  for (float* grid : grids)
    CHECK(cudaFree(grid));
  return report(options, result, seconds);
}
