// Case 12: twenty producers, each of which overlaps the one before, and a reader of all.
#include "sample.hpp"

constexpr int producers = 20, stride = 100, length = 150;
constexpr int count = stride * (producers - 1) + length;

__global__ void produce(float* x, float value) {
  x[threadIdx.x] = value;
}

__global__ void consume(const float* x, float* out) {
  for (int i = threadIdx.x; i < count; i += 128)
    out[i] = 2.0f * x[i];
}

int main(int argc, char** argv) {
  sample::parse_options("producers", argc, argv, {});
  float* x = sample::allocate(count);
  float* out = sample::allocate(count);

  sample::Stopwatch watch;
  for (int i = 0; i < producers; ++i)
    produce<<<1, length>>>(x + stride * i, static_cast<float>(i));
  consume<<<1, 128>>>(x, out);
  const double seconds = watch.seconds();

  std::vector<float> expected(count);
  for (int i = 0; i < producers; ++i) {
    for (int j = 0; j < length; ++j)
      expected[stride * i + j] = 2.0f * static_cast<float>(i);
  }
  return sample::report(sample::shape_text("producers", producers), sample::download(out, count),
                        expected, seconds);
}
