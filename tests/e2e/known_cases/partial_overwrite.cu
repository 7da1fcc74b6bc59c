// Case 10: `all` writes [0, 100), `part` overwrites [40, 60), `read` reads what --read says.
#include "sample.hpp"

constexpr int block = 10;

extern "C" __global__ void all(float* x) {
  const int i = blockIdx.x * block + threadIdx.x;
  x[i] = static_cast<float>(i);
}

extern "C" __global__ void part(float* x) {
  const int i = blockIdx.x * block + threadIdx.x;
  x[i] = static_cast<float>(1000 + i);
}

extern "C" __global__ void read(const float* x, float* out) {
  const int i = blockIdx.x * block + threadIdx.x;
  out[i] = x[i];
}

int main(int argc, char** argv) {
  int begin = 0, end = 100;
  sample::parse_options("partial_overwrite", argc, argv, {{"read", {&begin, &end}, 0, 100}});
  sample::require(begin < end && (end - begin) % block == 0,
                  "--read takes a range of whole blocks of 10");
  const int count = end - begin;
  float* x = sample::allocate(100);
  float* out = sample::allocate(count);

  sample::Stopwatch watch;
  all<<<10, block>>>(x);
  part<<<2, block>>>(x + 40);
  read<<<count / block, block>>>(x + begin, out);
  const double seconds = watch.seconds();

  std::vector<float> expected(count);
  for (int i = 0; i < count; ++i) {
    const int place = begin + i;
    const bool overwritten = place >= 40 && place < 60;
    expected[i] = static_cast<float>(overwritten ? 1000 + place - 40 : place);
  }
  return sample::report(sample::shape_text("begin", begin, "end", end),
                        sample::download(out, count), expected, seconds);
}
