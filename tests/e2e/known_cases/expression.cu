// Case 13: (a + b + 1)(a + b + 2) + (a + b), an operation a launch.
#include "sample.hpp"

constexpr int count = 16384, block = 256;

__global__ void add(const float* x, const float* y, float* out) {
  const int i = blockIdx.x * block + threadIdx.x;
  out[i] = x[i] + y[i];
}

__global__ void add_number(const float* x, float number, float* out) {
  const int i = blockIdx.x * block + threadIdx.x;
  out[i] = x[i] + number;
}

__global__ void multiply(const float* x, const float* y, float* out) {
  const int i = blockIdx.x * block + threadIdx.x;
  out[i] = x[i] * y[i];
}

int main(int argc, char** argv) {
  sample::parse_options("expression", argc, argv, {});
  const std::vector<float> a_values = sample::pattern(count), b_values = sample::pattern(count, 1);
  float* a = sample::upload(a_values);
  float* b = sample::upload(b_values);
  float* t[5];
  for (float*& buffer : t)
    buffer = sample::allocate(count);

  sample::Stopwatch watch;
  add<<<count / block, block>>>(a, b, t[0]);
  add_number<<<count / block, block>>>(t[0], 1.0f, t[1]);
  add_number<<<count / block, block>>>(t[0], 2.0f, t[2]);
  multiply<<<count / block, block>>>(t[1], t[2], t[3]);
  add<<<count / block, block>>>(t[3], t[0], t[4]);
  const double seconds = watch.seconds();

  std::vector<float> expected(count);
  for (int i = 0; i < count; ++i) {
    const float sum = a_values[i] + b_values[i];
    expected[i] = (sum + 1.0f) * (sum + 2.0f) + sum;
  }
  return sample::report(sample::shape_text("count", count), sample::download(t[4], count), expected,
                        seconds);
}
