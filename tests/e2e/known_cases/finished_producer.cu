// Case 19: the consumer is launched when its producer has long ended.
#include "sample.hpp"

constexpr int blocks = 64, block = 32, count = blocks * block;

__global__ void produce(float* x) {
  const int i = blockIdx.x * block + threadIdx.x;
  x[i] = static_cast<float>(i);
}

__global__ void consume(const float* x, float* out) {
  const int i = blockIdx.x * block + threadIdx.x;
  out[i] = x[i] + 1.0f;
}

int main(int argc, char** argv) {
  sample::parse_options("finished_producer", argc, argv, {});
  float* x = sample::allocate(count);
  float* out = sample::allocate(count);

  sample::Stopwatch watch;
  produce<<<blocks, block>>>(x);
  CHECK(cudaDeviceSynchronize());
  consume<<<blocks, block>>>(x, out);
  const double seconds = watch.seconds();

  std::vector<float> expected(count);
  for (int i = 0; i < count; ++i)
    expected[i] = static_cast<float>(i) + 1.0f;
  return sample::report(sample::shape_text("blocks", blocks), sample::download(out, count),
                        expected, seconds);
}
