// The 2D wave equation: each step reads two time levels and writes a third; three buffers rotate.
#include "../common/sample.hpp"

// wave() writes the next time level of the n x n membrane. Its edge is held fast. One thread per
// point, x fastest.
__global__ void wave(const float* before, const float* now, float* next, int n, float speed) {
  int x = blockIdx.x * blockDim.x + threadIdx.x;
  int y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= 1 && x < n - 1 && y >= 1 && y < n - 1) {
    int i = y * n + x;
    float around = now[i - 1] + now[i + 1] + now[i - n] + now[i + n];
    next[i] = 2.0f * now[i] - before[i] + speed * (around - 4.0f * now[i]);
  }
}

namespace {

void reference_step(const float* __restrict before, const float* __restrict now,
                    float* __restrict next, int n, float speed, int first, int end) {
  for (int y = first; y < end; ++y) {
    for (size_t i = size_t(y) * n + 1; i < size_t(y + 1) * n - 1; ++i) {
      float around = now[i - 1] + now[i + 1] + now[i - n] + now[i + n];
      next[i] = 2.0f * now[i] - before[i] + speed * (around - 4.0f * now[i]);
    }
  }
}

std::vector<float> reference(int n, int iterations, float speed) {
  std::vector<float> before = sample::pattern(size_t(n) * n);
  std::vector<float> now = before, next = before;
  for (int t = 0; t < iterations; ++t) {
    sample::in_parts(n - 2, n, [&](int first, int end) {
      reference_step(before.data(), now.data(), next.data(), n, speed, first + 1, end + 1);
    });
    before.swap(now);
    now.swap(next);
  }
  return now;
}

}  // namespace

int main(int argc, char** argv) {
  int n = 1024, iterations = 100;
  int block_x = 32, block_y = 8;
  sample::parse_options("wave", argc, argv,
                        {{"size", {&n}, 3, 32768},
                         {"iterations", {&iterations}},
                         {"block", {&block_x, &block_y}, 1, 1024}});
  sample::require(block_x * block_y <= 1024, "a block has at most 1024 threads");

  const float speed = 0.25f;  // (c dt / dx) squared: at most 0.5 is stable
  const size_t points = size_t(n) * n;
  const std::vector<float> start = sample::pattern(points);
  float* before = sample::upload(start);
  float* now = sample::upload(start);
  float* next = sample::upload(start);

  const dim3 threads(block_x, block_y);
  const dim3 blocks(sample::divide_up(n, block_x), sample::divide_up(n, block_y));
  sample::Stopwatch watch;
  for (int t = 0; t < iterations; ++t) {
    wave<<<blocks, threads>>>(before, now, next, n, speed);
    float* oldest = before;
    before = now;
    now = next;
    next = oldest;
  }
  const double seconds = watch.seconds();

  const std::vector<float> result = sample::download(now, points);
  CHECK(cudaFree(before));
  CHECK(cudaFree(now));
  CHECK(cudaFree(next));
  const std::string block = std::to_string(block_x) + "x" + std::to_string(block_y);
  return sample::report(
      sample::shape_text("size", n, "iterations", iterations) + " block=" + block, result,
      [&] { return reference(n, iterations, speed); }, seconds);
}
