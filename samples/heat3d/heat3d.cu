// Heat in a cube: a 3D 7-point stencil over two buffers that swap roles.
#include "../common/sample.hpp"

// heat() writes to each interior cell of the n x n x n grid `out` the cell's new temperature. Cells
// on the boundary keep theirs. One thread per cell, x fastest.
__global__ void heat(const float* in, float* out, int n, float rate) {
  int x = blockIdx.x * blockDim.x + threadIdx.x;
  int y = blockIdx.y * blockDim.y + threadIdx.y;
  int z = blockIdx.z * blockDim.z + threadIdx.z;
  if (x >= 1 && x < n - 1 && y >= 1 && y < n - 1 && z >= 1 && z < n - 1) {
    int i = (z * n + y) * n + x;
    float around = in[i - 1] + in[i + 1] + in[i - n] + in[i + n] + in[i - n * n] + in[i + n * n];
    out[i] = in[i] + rate * (around - 6.0f * in[i]);
  }
}

namespace {

void reference_step(const float* __restrict in, float* __restrict out, int n, float rate, int first,
                    int end) {
  const size_t row = n, plane = row * n;
  for (int z = first; z < end; ++z) {
    for (int y = 1; y < n - 1; ++y) {
      const size_t begin = z * plane + y * row;
      for (size_t i = begin + 1; i < begin + row - 1; ++i) {
        float around =
            in[i - 1] + in[i + 1] + in[i - row] + in[i + row] + in[i - plane] + in[i + plane];
        out[i] = in[i] + rate * (around - 6.0f * in[i]);
      }
    }
  }
}

std::vector<float> reference(int n, int iterations, float rate) {
  std::vector<float> in = sample::pattern(size_t(n) * n * n);
  std::vector<float> out = in;
  for (int t = 0; t < iterations; ++t) {
    sample::in_parts(n - 2, size_t(n) * n, [&](int first, int end) {
      reference_step(in.data(), out.data(), n, rate, first + 1, end + 1);
    });
    in.swap(out);
  }
  return in;
}

}  // namespace

int main(int argc, char** argv) {
  int n = 256, iterations = 20;
  int block_x = 32, block_y = 4, block_z = 2;
  sample::Repeats repeats;
  sample::parse_options("heat3d", argc, argv,
                        sample::with_repeats({{"size", {&n}, 3, 1024},
                                              {"iterations", {&iterations}},
                                              {"block", {&block_x, &block_y, &block_z}, 1, 1024}},
                                             repeats));
  sample::require(block_x * block_y * block_z <= 1024 && block_z <= 64,
                  "a block has at most 1024 threads and is at most 64 deep");

  const float rate = 0.1f;
  const size_t cells = size_t(n) * n * n;
  const std::vector<float> start = sample::pattern(cells);
  float* const buffers[] = {sample::upload(start), sample::upload(start)};

  const dim3 threads(block_x, block_y, block_z);
  const dim3 blocks(sample::divide_up(n, block_x), sample::divide_up(n, block_y),
                    sample::divide_up(n, block_z));
  const auto reset = [&] {
    for (float* buffer : buffers)
      sample::upload(start, buffer);
  };
  const auto steps = [&](cudaStream_t stream) {
    for (int t = 0; t < iterations; ++t)
      heat<<<blocks, threads, 0, stream>>>(buffers[t % 2], buffers[(t + 1) % 2], n, rate);
  };
  const double seconds = sample::timed(repeats, reset, steps);

  const std::vector<float> result = sample::download(buffers[iterations % 2], cells);
  for (float* buffer : buffers)
    CHECK(cudaFree(buffer));
  const std::string block =
      std::to_string(block_x) + "x" + std::to_string(block_y) + "x" + std::to_string(block_z);
  return sample::report(
      sample::shape_text("size", n, "iterations", iterations) + " block=" + block, result,
      [&] { return reference(n, iterations, rate); }, seconds);
}
