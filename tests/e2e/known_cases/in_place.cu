// Case 9: A writes, B reads and writes the same buffer, C reads.
#include "sample.hpp"

__global__ void write(float* x) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  x[i] = static_cast<float>(i);
}

__global__ void update(float* x) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  x[i] = 3.0f * x[i] + 1.0f;
}

__global__ void read(const float* x, float* out) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  out[i] = x[i];
}

int main(int argc, char** argv) {
  sample::parse_options("in_place", argc, argv, {});
  constexpr int blocks = 4, block = 64, count = blocks * block;
  float* x = sample::allocate(count);
  float* out = sample::allocate(count);

  sample::Stopwatch watch;
  write<<<blocks, block>>>(x);
  update<<<blocks, block>>>(x);
  read<<<blocks, block>>>(x, out);
  const double seconds = watch.seconds();

  std::vector<float> expected(count);
  for (int i = 0; i < count; ++i)
    expected[i] = 3.0f * static_cast<float>(i) + 1.0f;
  return sample::report(sample::shape_text("blocks", blocks), sample::download(out, count),
                        expected, seconds);
}
