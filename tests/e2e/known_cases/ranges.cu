// Case 11: one launch writes the elements of --first, the next those of --second.
#include "sample.hpp"

__global__ void fill(float* x, float value) {
  x[blockIdx.x * 64 + threadIdx.x] = value;
}

int main(int argc, char** argv) {
  int first[2] = {0, 256}, second[2] = {0, 512};
  sample::parse_options(
      "ranges", argc, argv,
      {{"first", {&first[0], &first[1]}, 0, 512}, {"second", {&second[0], &second[1]}, 0, 512}});
  for (const int* range : {first, second}) {
    sample::require(range[0] < range[1] && range[0] % 64 == 0 && range[1] % 64 == 0,
                    "ranges are BEGIN,END, both multiples of 64");
  }
  std::vector<float> expected(512, 0.0f);
  float* x = sample::upload(expected);

  sample::Stopwatch watch;
  fill<<<(first[1] - first[0]) / 64, 64>>>(x + first[0], 1.0f);
  fill<<<(second[1] - second[0]) / 64, 64>>>(x + second[0], 2.0f);
  const double seconds = watch.seconds();

  for (int i = first[0]; i < first[1]; ++i)
    expected[i] = 1.0f;
  for (int i = second[0]; i < second[1]; ++i)
    expected[i] = 2.0f;
  return sample::report(sample::shape_text("first", first[0], "second", second[0]),
                        sample::download(x, 512), expected, seconds);
}
