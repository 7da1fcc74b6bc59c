// Conjugate gradients for Poisson's equation on a square: products with the 5-point matrix,
// reductions to scalars that stay on the device, copies of scalars, and now and then a look at the
// residual, through pinned memory.
#include "../common/sample.hpp"

constexpr int threads_of_a_sum = 256;

// product() is q = A p; what lies outside the n x n points is 0.
__global__ void product(const float* p, float* q, int n) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x;
  const int y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= n || y >= n) return;
  const int i = y * n + x;
  float sum = 4.0f * p[i];
  if (x > 0) sum -= p[i - 1];
  if (x < n - 1) sum -= p[i + 1];
  if (y > 0) sum -= p[i - n];
  if (y < n - 1) sum -= p[i + n];
  q[i] = sum;
}

__device__ float sum_of_block(float value) {
  __shared__ float values[threads_of_a_sum];
  values[threadIdx.x] = value;
  for (int half = threads_of_a_sum / 2; half > 0; half /= 2) {
    __syncthreads();
    if (threadIdx.x < half) values[threadIdx.x] += values[threadIdx.x + half];
  }
  return values[0];
}

// dot_of_blocks() and sum() are a . b in two steps.
__global__ void dot_of_blocks(const float* a, const float* b, float* sums, int count) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  const float total = sum_of_block(i < count ? a[i] * b[i] : 0.0f);
  if (threadIdx.x == 0) sums[blockIdx.x] = total;
}
__global__ void sum(const float* values, int count, float* result) {
  float mine = 0;
  for (int i = threadIdx.x; i < count; i += threads_of_a_sum)
    mine += values[i];
  const float total = sum_of_block(mine);
  if (threadIdx.x == 0) *result = total;
}

__global__ void advance(float* x, float* r, const float* p, const float* q, const float* rr,
                        const float* pq, int count) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= count) return;
  const float alpha = *rr / *pq;
  x[i] += alpha * p[i];
  r[i] -= alpha * q[i];
}
__global__ void turn(float* p, const float* r, const float* rr_new, const float* rr, int count) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < count) p[i] = r[i] + *rr_new / *rr * p[i];
}

namespace {

// The steps between two looks at the residual.
constexpr int steps_between_looks = 25;

float reference_sum(const std::vector<float>& values) {
  std::vector<float> sums(threads_of_a_sum, 0.0f);
  for (size_t i = 0; i < values.size(); ++i)
    sums[i % threads_of_a_sum] += values[i];
  for (int half = threads_of_a_sum / 2; half > 0; half /= 2) {
    for (int i = 0; i < half; ++i)
      sums[i] += sums[i + half];
  }
  return sums[0];
}

float reference_dot(const std::vector<float>& a, const std::vector<float>& b) {
  std::vector<float> sums;
  for (size_t first = 0; first < a.size(); first += threads_of_a_sum) {
    std::vector<float> products(threads_of_a_sum, 0.0f);
    for (size_t i = first; i < a.size() && i < first + threads_of_a_sum; ++i)
      products[i - first] = a[i] * b[i];
    sums.push_back(reference_sum(products));
  }
  return reference_sum(sums);
}

void reference_product(const std::vector<float>& p, std::vector<float>& q, int n) {
  sample::in_parts(n, n, [&](int first, int end) {
    for (int i = first * n; i < end * n; ++i) {
      const int x = i % n, y = i / n;
      float sum = 4.0f * p[i];
      if (x > 0) sum -= p[i - 1];
      if (x < n - 1) sum -= p[i + 1];
      if (y > 0) sum -= p[i - n];
      if (y < n - 1) sum -= p[i + n];
      q[i] = sum;
    }
  });
}

std::vector<float> reference(const std::vector<float>& b, int n, int steps) {
  std::vector<float> x(b.size(), 0.0f), r = b, p = b, q = b;
  float rr = reference_dot(r, r);
  for (int t = 0; t < steps; ++t) {
    reference_product(p, q, n);
    const float alpha = rr / reference_dot(p, q);
    for (size_t i = 0; i < x.size(); ++i) {
      x[i] += alpha * p[i];
      r[i] -= alpha * q[i];
    }
    const float rr_new = reference_dot(r, r);
    for (size_t i = 0; i < x.size(); ++i)
      p[i] = r[i] + rr_new / rr * p[i];
    rr = rr_new;
  }
  return x;
}

}  // namespace

int main(int argc, char** argv) {
  int n = 512, most_steps = 100;
  sample::parse_options("cg", argc, argv,
                        {{"size", {&n}, 2, 8192}, {"steps", {&most_steps}, 1, 10000}});
  const int count = n * n;
  const int blocks = static_cast<int>(sample::divide_up(count, threads_of_a_sum));
  const std::vector<float> b = sample::pattern(count);
  float* x = sample::allocate(count);
  float* r = sample::upload(b);
  float* p = sample::upload(b);
  float* q = sample::allocate(count);
  float* sums = sample::allocate(blocks);
  float* scalars = sample::allocate(3);
  float *rr = scalars, *rr_new = scalars + 1, *pq = scalars + 2;
  float* seen = nullptr;  // the residual, on the host
  CHECK(cudaMallocHost(&seen, sizeof(float)));
  CHECK(cudaMemset(x, 0, count * sizeof(float)));

  const auto dot = [&](const float* one, const float* other, float* result) {
    dot_of_blocks<<<blocks, threads_of_a_sum>>>(one, other, sums, count);
    sum<<<1, threads_of_a_sum>>>(sums, blocks, result);
  };
  const dim3 tile(32, 8);
  const dim3 tiles(sample::divide_up(n, tile.x), sample::divide_up(n, tile.y));
  int steps = 0;
  sample::Stopwatch watch;
  dot(r, r, rr);
  for (bool goes_on = true; goes_on && steps < most_steps; ++steps) {
    product<<<tiles, tile>>>(p, q, n);
    dot(p, q, pq);
    advance<<<blocks, threads_of_a_sum>>>(x, r, p, q, rr, pq, count);
    dot(r, r, rr_new);
    turn<<<blocks, threads_of_a_sum>>>(p, r, rr_new, rr, count);
    CHECK(cudaMemcpyAsync(rr, rr_new, sizeof(float), cudaMemcpyDeviceToDevice));
    if (steps % steps_between_looks != steps_between_looks - 1) continue;
    CHECK(cudaMemcpyAsync(seen, rr, sizeof(float), cudaMemcpyDeviceToHost));
    CHECK(cudaStreamSynchronize(nullptr));
    goes_on = *seen > 1e-10f;
  }
  const double seconds = watch.seconds();

  const std::vector<float> result = sample::download(x, count);
  for (float* memory : {x, r, p, q, sums, scalars})
    CHECK(cudaFree(memory));
  CHECK(cudaFreeHost(seen));
  return sample::report(
      sample::shape_text("size", n, "steps", steps), result, [&] { return reference(b, n, steps); },
      seconds);
}
