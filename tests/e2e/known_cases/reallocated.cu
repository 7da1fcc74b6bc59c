// Case 18: memory is written, freed, allocated again at the same address, and read. What the first
// reader finds there is anyone's guess; it must not be taken for the old writer's.
#include "sample.hpp"

constexpr int blocks = 64, block = 256, count = blocks * block;
// So large that allocators give and take its pages at once.
constexpr size_t allocated = size_t{10} << 20;

__global__ void write(float* x, float value) {
  x[blockIdx.x * block + threadIdx.x] = value;
}

__global__ void read(const float* x, float* out) {
  const int i = blockIdx.x * block + threadIdx.x;
  out[i] = x[i];
}

int main(int argc, char** argv) {
  sample::parse_options("reallocated", argc, argv, {});
  float* out = sample::allocate(count);

  sample::Stopwatch watch;
  float* old = sample::allocate(allocated);
  write<<<blocks, block>>>(old, 1.0f);
  CHECK(cudaFree(old));
  float* fresh = sample::allocate(allocated);
  read<<<blocks, block>>>(fresh, out);
  write<<<blocks, block>>>(fresh, 2.0f);
  read<<<blocks, block>>>(fresh, out);
  const double seconds = watch.seconds();
  return sample::report(sample::shape_text("same_address", fresh == old),
                        sample::download(out, count), std::vector<float>(count, 2.0f), seconds);
}
