// A chain of matrix products, each the next one's input, as in the layers of a perceptron.
#include "../common/sample.hpp"

constexpr int tile = 16;

// gemm() computes c = a * b for `a` of rows x size and `b` of size x size, a tile each block,
// through shared memory.
__global__ void gemm(const float* a, const float* b, float* c, int rows, int size) {
  __shared__ float tile_a[tile][tile];
  __shared__ float tile_b[tile][tile];
  const int row = blockIdx.y * tile + threadIdx.y;
  const int column = blockIdx.x * tile + threadIdx.x;
  float sum = 0.0f;
  for (int k = 0; k < size; k += tile) {
    const int across = k + threadIdx.x, down = k + threadIdx.y;
    tile_a[threadIdx.y][threadIdx.x] = row < rows && across < size ? a[row * size + across] : 0.0f;
    tile_b[threadIdx.y][threadIdx.x] =
        column < size && down < size ? b[down * size + column] : 0.0f;
    __syncthreads();
    for (int i = 0; i < tile; ++i)
      sum += tile_a[threadIdx.y][i] * tile_b[i][threadIdx.x];
    __syncthreads();
  }
  if (row < rows && column < size) c[row * size + column] = sum;
}

namespace {

std::vector<float> product(const std::vector<float>& a, const std::vector<float>& b, int rows,
                           int size) {
  std::vector<float> c(a.size());
  sample::in_parts(rows, size_t(size) * size, [&](int first, int end) {
    for (int row = first; row < end; ++row) {
      float* out = &c[size_t(row) * size];
      for (int k = 0; k < size; ++k) {
        const float factor = a[size_t(row) * size + k];
        const float* line = &b[size_t(k) * size];
        for (int column = 0; column < size; ++column)
          out[column] += factor * line[column];
      }
    }
  });
  return c;
}

// A layer's weights: around 0 and so small that the activations keep their size.
std::vector<float> weights(int layer, int size) {
  std::vector<float> values = sample::pattern(size_t(size) * size, layer + 1);
  const float scale = 3.4f / std::sqrt(static_cast<float>(size));
  for (float& value : values)
    value = (value - 0.5f) * scale;
  return values;
}

}  // namespace

int main(int argc, char** argv) {
  int rows = 256, size = 512, layers = 4;
  sample::Repeats repeats;
  sample::parse_options(
      "gemm_chain", argc, argv,
      sample::with_repeats(
          {{"rows", {&rows}, 1, 8192}, {"size", {&size}, 1, 8192}, {"layers", {&layers}, 1, 64}},
          repeats));

  std::vector<float> expected = sample::pattern(size_t(rows) * size);
  std::vector<float*> activations = {sample::upload(expected)};
  std::vector<float*> parameters;
  for (int layer = 0; layer < layers; ++layer) {
    parameters.push_back(sample::upload(weights(layer, size)));
    activations.push_back(sample::allocate(expected.size()));
  }

  const dim3 blocks(sample::divide_up(size, tile), sample::divide_up(rows, tile));
  const auto products = [&](cudaStream_t stream) {
    for (int layer = 0; layer < layers; ++layer) {
      gemm<<<blocks, dim3(tile, tile), 0, stream>>>(activations[layer], parameters[layer],
                                                    activations[layer + 1], rows, size);
    }
  };
  const double seconds = sample::timed(repeats, [] {}, products);

  const std::vector<float> result = sample::download(activations.back(), expected.size());
  for (float* buffer : activations)
    CHECK(cudaFree(buffer));
  for (float* buffer : parameters)
    CHECK(cudaFree(buffer));
  const auto reference = [&] {
    for (int layer = 0; layer < layers; ++layer)
      expected = product(expected, weights(layer, size), rows, size);
    return expected;
  };
  return sample::report(sample::shape_text("rows", rows, "size", size, "layers", layers), result,
                        reference, seconds);
}
