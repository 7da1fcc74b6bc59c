// Case 17: a write, two reads, a write.
#include "sample.hpp"

constexpr int blocks = 4, block = 64, count = blocks * block;

__global__ void write(float* x, float value) {
  x[blockIdx.x * block + threadIdx.x] = value;
}

__global__ void read(const float* x, float* out) {
  const int i = blockIdx.x * block + threadIdx.x;
  out[i] = x[i];
}

int main(int argc, char** argv) {
  sample::parse_options("readers", argc, argv, {});
  float* x = sample::allocate(count);
  float* first = sample::allocate(count);
  float* second = sample::allocate(count);

  sample::Stopwatch watch;
  write<<<blocks, block>>>(x, 1.0f);
  read<<<blocks, block>>>(x, first);
  read<<<blocks, block>>>(x, second);
  write<<<blocks, block>>>(x, 2.0f);
  const double seconds = watch.seconds();

  std::vector<float> result, expected;
  for (const auto& [buffer, value] :
       {std::pair<float*, float>{first, 1.0f}, {second, 1.0f}, {x, 2.0f}}) {
    for (const float found : sample::download(buffer, count))
      result.push_back(found);
    expected.insert(expected.end(), count, value);
  }
  return sample::report(sample::shape_text("blocks", blocks), result, expected, seconds);
}
