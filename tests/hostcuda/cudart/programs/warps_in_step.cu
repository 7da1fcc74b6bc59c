// Sums and prefix sums whose last steps rely on a warp that runs in step, as older codes do.
#include <vector>

#include <cuda_runtime.h>

#include "check.hpp"

constexpr int threads = 256;

enum Mode { plain, with_volatile, prefix };

__global__ void sums(const double* in, double* out, Mode mode) {
  __shared__ double s[threads];
  volatile double* v = s;
  int t = threadIdx.x;
  s[t] = in[blockIdx.x * threads + t];
  if (mode == prefix) {
    __syncthreads();
    int lane = t & 31, first = t & ~31;
    for (int step = 1; step < 32; step *= 2) {
      double left = lane >= step ? v[first + lane - step] : 0;
      v[t] += left;
    }
    if (lane == 31) atomicAdd(&out[blockIdx.x], v[t]);
    return;
  }
  for (int half = threads / 2; half > 16; half /= 2) {
    __syncthreads();
    if (t >= half) return;
    s[t] += s[t + half];
  }
  if (mode == with_volatile) {
    if (t < 16) {
      v[t] += v[t + 16];
      v[t] += v[t + 8];
      v[t] += v[t + 4];
      v[t] += v[t + 2];
      v[t] += v[t + 1];
    }
  } else if (t < 16) {
    s[t] += s[t + 16];
    if (t < 8) {
      s[t] += s[t + 8];
      if (t < 4) {
        s[t] += s[t + 4];
        if (t < 2) {
          s[t] += s[t + 2];
          if (t < 1) s[t] += s[t + 1];
        }
      }
    }
  }
  if (t == 0) out[blockIdx.x] = s[0];
}

int main() {
  const int blocks = 64;
  std::vector<double> in(blocks * threads), out(blocks);
  for (int i = 0; i < blocks * threads; ++i)
    in[i] = 1 + i % threads;
  double *device_in, *device_out;
  CHECK(cudaMalloc(&device_in, in.size() * sizeof(double)));
  CHECK(cudaMalloc(&device_out, out.size() * sizeof(double)));
  CHECK(cudaMemcpy(device_in, in.data(), in.size() * sizeof(double), cudaMemcpyDefault));
  for (Mode mode : {plain, with_volatile, prefix}) {
    CHECK(cudaMemset(device_out, 0, out.size() * sizeof(double)));
    sums<<<blocks, threads>>>(device_in, device_out, mode);
    CHECK(cudaMemcpy(out.data(), device_out, out.size() * sizeof(double), cudaMemcpyDefault));
    for (double sum : out)
      EXPECT(sum == threads * (threads + 1) / 2.0);
  }
  CHECK(cudaFree(device_in));
  CHECK(cudaFree(device_out));
  std::printf("ok\n");
  return 0;
}
