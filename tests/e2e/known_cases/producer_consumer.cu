// Case 3: P producers and C consumers cut one tensor into equal parts of their own.
#include "sample.hpp"

__global__ void produce(float* tensor) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  tensor[i] = static_cast<float>(3 * i + 1);
}

__global__ void consume(const float* tensor, float* out) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  out[i] = 2.0f * tensor[i];
}

int main(int argc, char** argv) {
  int producers = 6, consumers = 4;
  sample::parse_options("producer_consumer", argc, argv,
                        {{"producers", {&producers}, 1, 100}, {"consumers", {&consumers}, 1, 100}});
  const int count = producers * consumers * 4;
  float* tensor = sample::allocate(count);
  float* out = sample::allocate(count);

  sample::Stopwatch watch;
  produce<<<producers, count / producers>>>(tensor);
  consume<<<consumers, count / consumers>>>(tensor, out);
  const double seconds = watch.seconds();

  std::vector<float> expected(count);
  for (int i = 0; i < count; ++i)
    expected[i] = 2.0f * static_cast<float>(3 * i + 1);
  return sample::report(sample::shape_text("producers", producers, "consumers", consumers),
                        sample::download(out, count), expected, seconds);
}
