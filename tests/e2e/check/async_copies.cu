// cp.async that nobody waits for, and right twins. It needs sm_80.
#include <cuda_pipeline.h>

#include "seeded.hpp"

template <bool is_right>
__global__ void scaled(float* out, const float* in, int n) {
  __shared__ float tile[96];
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) __pipeline_memcpy_async(&tile[threadIdx.x], in + i, sizeof(float));
  __pipeline_commit();
  if (is_right) __pipeline_wait_prior(0);
  __syncthreads();
  if (i < n) out[i] = 2 * tile[blockDim.x - 1 - threadIdx.x];  // no-wait
}

static void no_wait(bool is_right) {
  float *out = zeros<float>(192), *in = zeros<float>(192);
  is_right ? scaled<true><<<2, 96>>>(out, in, 192) : scaled<false><<<2, 96>>>(out, in, 192);
}

// Two tiles in turn: who computes with one waits for all groups but the last.
template <int left>
__global__ void sums(float* out, const float* in, int tiles) {
  __shared__ float tile[2][64];
  int i = threadIdx.x;
  __pipeline_memcpy_async(&tile[0][i], in + i, sizeof(float));
  __pipeline_commit();
  float sum = 0;
  for (int t = 0; t < tiles; ++t) {
    if (t + 1 < tiles)
      __pipeline_memcpy_async(&tile[(t + 1) % 2][i], in + (t + 1) * 64 + i, sizeof(float));
    __pipeline_commit();
    __pipeline_wait_prior(left);
    __syncthreads();
    sum += tile[t % 2][63 - i];  // one-group-too-many
    __syncthreads();
  }
  out[i] = sum;
}

static void one_group_too_many(bool is_right) {
  float *out = zeros<float>(64), *in = zeros<float>(320);
  is_right ? sums<1><<<1, 64>>>(out, in, 5) : sums<2><<<1, 64>>>(out, in, 5);
}

// Waiting is a thread's own affair: the others need a barrier.
template <bool is_right>
__global__ void turned(float* out, const float* in) {
  __shared__ float tile[64];
  int i = threadIdx.x;
  __pipeline_memcpy_async(&tile[i], in + i, sizeof(float));
  __pipeline_commit();
  __pipeline_wait_prior(0);
  if (is_right) __syncthreads();
  out[i] = tile[63 - i];  // no-barrier
}

static void no_barrier(bool is_right) {
  float *out = zeros<float>(64), *in = zeros<float>(64);
  is_right ? turned<true><<<1, 64>>>(out, in) : turned<false><<<1, 64>>>(out, in);
}

int main(int argc, char** argv) {
  constexpr SeededCase cases[] = {
      {"no-wait", no_wait},
      {"one-group-too-many", one_group_too_many},
      {"no-barrier", no_barrier},
  };
  return run_case(cases, argc, argv);
}
