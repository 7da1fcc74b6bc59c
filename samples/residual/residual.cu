// A residual block with normalisation: five small kernels, two of which read all of what an earlier
// one wrote.
#include "../common/sample.hpp"

// features() is out = 2 in - 1.
__global__ void features(const float* in, float* out) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  out[i] = 2.0f * in[i] - 1.0f;
}

// activate() is out = in where that is positive, a tenth of it elsewhere.
__global__ void activate(const float* in, float* out) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  out[i] = in[i] > 0.0f ? in[i] : 0.1f * in[i];
}

// residual() adds the mean of all features to what was activated.
__global__ void residual(const float* activated, const float* feature, float* out, int count) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  float sum = 0.0f;
  for (int j = 0; j < count; ++j)
    sum += feature[j];
  out[i] = activated[i] + sum / count;
}

// split() makes two tensors of one: the values and their squares.
__global__ void split(const float* in, float* values, float* squares) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  values[i] = in[i];
  squares[i] = in[i] * in[i];
}

// normalise() divides by the root of the mean of all squares.
__global__ void normalise(const float* values, const float* squares, float* out, int count) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  float sum = 0.0f;
  for (int j = 0; j < count; ++j)
    sum += squares[j];
  out[i] = values[i] / sqrtf(sum / count + 1e-6f);
}

namespace {

std::vector<float> reference(int count, int layers) {
  std::vector<float> values = sample::pattern(count);
  for (int layer = 0; layer < layers; ++layer) {
    float sum = 0.0f, squares = 0.0f;
    for (float& value : values) {
      value = 2.0f * value - 1.0f;
      sum += value;
    }
    for (float& value : values) {
      value = (value > 0.0f ? value : 0.1f * value) + sum / count;
      squares += value * value;
    }
    for (float& value : values)
      value /= std::sqrt(squares / count + 1e-6f);
  }
  return values;
}

}  // namespace

int main(int argc, char** argv) {
  int blocks = 8, block = 256, layers = 1;
  sample::parse_options(
      "residual", argc, argv,
      {{"blocks", {&blocks}, 1, 4096}, {"block", {&block}, 1, 1024}, {"layers", {&layers}}});

  const int count = blocks * block;
  float* in = sample::upload(sample::pattern(count));
  float* feature = sample::allocate(count);
  float* activated = sample::allocate(count);
  float* sum = sample::allocate(count);
  float* values = sample::allocate(count);
  float* squares = sample::allocate(count);
  float* out = sample::allocate(count);

  sample::Stopwatch watch;
  for (int layer = 0; layer < layers; ++layer) {
    features<<<blocks, block>>>(in, feature);
    activate<<<blocks, block>>>(feature, activated);
    residual<<<blocks, block>>>(activated, feature, sum, count);
    split<<<blocks, block>>>(sum, values, squares);
    normalise<<<blocks, block>>>(values, squares, out, count);
    std::swap(in, out);
  }
  const double seconds = watch.seconds();

  const std::vector<float> result = sample::download(in, count);
  for (float* buffer : {in, feature, activated, sum, values, squares, out})
    CHECK(cudaFree(buffer));
  return sample::report(
      sample::shape_text("blocks", blocks, "block", block, "layers", layers), result,
      [&] { return reference(count, layers); }, seconds);
}
