// Case 7: a stencil of 16 x 16 cells on blocks of 2 x 2 threads. Three parties own rows of blocks
// (0 to 2, 3 to 5, 6 and 7) and launch their rows alone.
#include "sample.hpp"

constexpr int n = 16;

__global__ void step(const float* in, float* out, int first_row) {
  const int x = blockIdx.x * 2 + threadIdx.x;
  const int y = (blockIdx.y + first_row) * 2 + threadIdx.y;
  if (x < 1 || y < 1 || x >= n - 1 || y >= n - 1) return;
  out[y * n + x] =
      0.25f * (in[y * n + x - 1] + in[y * n + x + 1] + in[(y - 1) * n + x] + in[(y + 1) * n + x]) +
      0.5f * in[y * n + x];
}

namespace {

std::vector<float> reference(int steps) {
  std::vector<float> in = sample::pattern(n * n);
  std::vector<float> out = in;
  for (int t = 0; t < steps; ++t) {
    for (int y = 1; y < n - 1; ++y) {
      for (int x = 1; x < n - 1; ++x) {
        out[y * n + x] = 0.25f * (in[y * n + x - 1] + in[y * n + x + 1] + in[(y - 1) * n + x] +
                                  in[(y + 1) * n + x]) +
                         0.5f * in[y * n + x];
      }
    }
    std::swap(in, out);
  }
  return in;
}

}  // namespace

int main(int argc, char** argv) {
  int steps = 2;
  sample::parse_options("parties", argc, argv, {{"steps", {&steps}, 1, 1000}});
  float* in = sample::upload(sample::pattern(n * n));
  float* out = sample::upload(sample::pattern(n * n));

  sample::Stopwatch watch;
  for (int t = 0; t < steps; ++t) {
    step<<<dim3(8, 3), dim3(2, 2)>>>(in, out, 0);
    step<<<dim3(8, 3), dim3(2, 2)>>>(in, out, 3);
    step<<<dim3(8, 2), dim3(2, 2)>>>(in, out, 6);
    std::swap(in, out);
  }
  const double seconds = watch.seconds();
  return sample::report(sample::shape_text("steps", steps), sample::download(in, n * n),
                        reference(steps), seconds);
}
