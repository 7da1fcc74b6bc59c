// Kernels as they are written today: by warps, with special functions and atomics, in grid-stride
// loops. All take what they read, what they write and a count; rows are `row_width` wide.
#include "sizes.hpp"

constexpr unsigned all_lanes = ~0U;

__device__ float warp_sum(float value) {
  for (int offset = 16; offset > 0; offset /= 2)
    value += __shfl_xor_sync(all_lanes, value, offset);
  return value;
}

__device__ float warp_maximum(float value) {
  for (int offset = 16; offset > 0; offset /= 2)
    value = fmaxf(value, __shfl_xor_sync(all_lanes, value, offset));
  return value;
}

// block_sum() is the sum over a block of at most 1024 threads, known to all of them.
__device__ float block_sum(float value) {
  __shared__ float sums[32];
  value = warp_sum(value);
  if (threadIdx.x % 32 == 0) sums[threadIdx.x / 32] = value;
  __syncthreads();
  value = threadIdx.x % 32 < blockDim.x / 32 ? sums[threadIdx.x % 32] : 0;
  __syncthreads();
  return warp_sum(value);
}

extern "C" __global__ void sum_shared(const float* in, float* out, int count) {
  __shared__ float sums[256];
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  sums[threadIdx.x] = i < count ? in[i] * in[i] : 0;
  __syncthreads();
  for (int half = 128; half > 0; half /= 2) {
    if (threadIdx.x < half) sums[threadIdx.x] += sums[threadIdx.x + half];
    __syncthreads();
  }
  if (threadIdx.x == 0) out[blockIdx.x] = sums[0];
}

extern "C" __global__ void sum_shuffle(const float* in, float* out, int count) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  float sum = i < count ? in[i] * in[i] : 0;
  for (int offset = 16; offset > 0; offset /= 2)
    sum += __shfl_down_sync(all_lanes, sum, offset);
  if (threadIdx.x % 32 == 0) out[i / 32] = sum;
}

extern "C" __global__ void sum_atomic(const float* in, float* out, int count) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  float sum = i < count ? in[i] * in[i] : 0;
  for (int offset = 16; offset > 0; offset /= 2)
    sum += __shfl_down_sync(all_lanes, sum, offset);
  if (threadIdx.x % 32 == 0) atomicAdd(out, sum);
}

extern "C" __global__ void softmax_warp(const float* in, float* out, int rows) {
  int row = (blockIdx.x * blockDim.x + threadIdx.x) / 32;
  int lane = threadIdx.x % 32;
  if (row >= rows) return;
  in += row * row_width;
  out += row * row_width;
  float most = -1e30f;
  for (int i = lane; i < row_width; i += 32)
    most = fmaxf(most, in[i]);
  most = warp_maximum(most);
  float sum = 0;
  for (int i = lane; i < row_width; i += 32)
    sum += expf(in[i] - most);
  sum = warp_sum(sum);
  for (int i = lane; i < row_width; i += 32)
    out[i] = expf(in[i] - most) / sum;
}

extern "C" __global__ void layer_norm_block(const float* in, float* out, int rows) {
  in += blockIdx.x * row_width;
  out += blockIdx.x * row_width;
  float sum = 0;
  for (int i = threadIdx.x; i < row_width; i += blockDim.x)
    sum += in[i];
  const float mean = block_sum(sum) / row_width;
  float squares = 0;
  for (int i = threadIdx.x; i < row_width; i += blockDim.x)
    squares += (in[i] - mean) * (in[i] - mean);
  const float scale = rsqrtf(block_sum(squares) / row_width + 1e-5f);
  for (int i = threadIdx.x; i < row_width; i += blockDim.x)
    out[i] = (in[i] - mean) * scale;
}

extern "C" __global__ void rms_norm_warp(const float* in, float* out, int rows) {
  int row = (blockIdx.x * blockDim.x + threadIdx.x) / 32;
  int lane = threadIdx.x % 32;
  if (row >= rows) return;
  in += row * row_width;
  out += row * row_width;
  float squares = 0;
  for (int i = lane; i < row_width; i += 32)
    squares += in[i] * in[i];
  const float scale = rsqrtf(warp_sum(squares) / row_width + 1e-5f);
  for (int i = lane; i < row_width; i += 32)
    out[i] = in[i] * scale;
}

// A thread for each query; keys and values pass through shared memory.
extern "C" __global__ void attention(const float* in, float* out, int count) {
  __shared__ float keys[attention_tile][head_width];
  __shared__ float values[attention_tile][head_width];
  const float* all_keys = in + count * head_width;
  const float* all_values = all_keys + count * head_width;
  int query = blockIdx.x * blockDim.x + threadIdx.x;
  float own[head_width], sum[head_width];
  for (int i = 0; i < head_width; ++i) {
    own[i] = in[query * head_width + i];
    sum[i] = 0;
  }
  float most = -1e30f, weight = 0;
  for (int first = 0; first < count; first += attention_tile) {
    for (int i = threadIdx.x; i < attention_tile * head_width; i += blockDim.x) {
      keys[i / head_width][i % head_width] = all_keys[first * head_width + i];
      values[i / head_width][i % head_width] = all_values[first * head_width + i];
    }
    __syncthreads();
    for (int k = 0; k < attention_tile; ++k) {
      float score = 0;
      for (int i = 0; i < head_width; ++i)
        score += own[i] * keys[k][i];
      float now = fmaxf(most, score);
      float before = __expf(most - now), here = __expf(score - now);
      most = now;
      weight = weight * before + here;
      for (int i = 0; i < head_width; ++i)
        sum[i] = sum[i] * before + here * values[k][i];
    }
    __syncthreads();
  }
  for (int i = 0; i < head_width; ++i)
    out[query * head_width + i] = sum[i] / weight;
}

extern "C" __global__ void histogram_shared(const float* in, int* out, int count) {
  __shared__ int bins[256];
  bins[threadIdx.x] = 0;
  __syncthreads();
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < count) atomicAdd(&bins[static_cast<int>(in[i] * 255) & 255], 1);
  __syncthreads();
  atomicAdd(&out[threadIdx.x], bins[threadIdx.x]);
}

extern "C" __global__ void histogram_global(const float* in, int* out, int count) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < count) atomicAdd(&out[static_cast<int>(in[i] * 255) & 255], 1);
}

extern "C" __global__ void gelu(const float* in, float* out, int count) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= count) return;
  float x = in[i];
  out[i] = 0.5f * x * (1 + tanhf(0.7978845608f * (x + 0.044715f * x * x * x)));
}

// Prices, strikes and years stand one after the other.
extern "C" __global__ void black_scholes(const float* in, float* out, int count) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= count) return;
  float price = 5 + 25 * in[i], strike = 1 + 99 * in[count + i],
        years = 0.25f + 9 * in[2 * count + i];
  float root = sqrtf(years);
  float d1 = (logf(price / strike) + (rate + 0.5f * volatility * volatility) * years) /
             (volatility * root);
  float d2 = d1 - volatility * root;
  float discount = strike * expf(-rate * years);
  out[i] = price * normcdff(d1) - discount * normcdff(d2);
}

#define SLUICE_STRIDE(i) \
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < count; i += gridDim.x * blockDim.x)

extern "C" __global__ void stream_copy(const double* in, double* out, int count) {
  SLUICE_STRIDE(i) out[i] = in[i];
}
extern "C" __global__ void stream_add(const double* in, double* out, int count) {
  SLUICE_STRIDE(i) out[i] = in[i] + in[count + i];
}
extern "C" __global__ void stream_triad(const double* in, double* out, int count) {
  SLUICE_STRIDE(i) out[i] = in[i] + 0.4 * in[count + i];
}
extern "C" __global__ void stream_dot(const double* in, double* out, int count) {
  __shared__ double sums[256];
  double sum = 0;
  SLUICE_STRIDE(i) sum += in[i] * in[count + i];
  sums[threadIdx.x] = sum;
  for (int half = blockDim.x / 2; half > 0; half /= 2) {
    __syncthreads();
    if (threadIdx.x < half) sums[threadIdx.x] += sums[threadIdx.x + half];
  }
  if (threadIdx.x == 0) out[blockIdx.x] = sums[0];
}

// A one-dimensional grid over a square of `count` rows.
extern "C" __global__ void linear_stencil(const float* in, float* out, int count) {
  int t = blockIdx.x * blockDim.x + threadIdx.x;
  int x = t % count, y = t / count;
  if (y >= count) return;
  float sum = in[t];
  if (x > 0) sum += in[t - 1];
  if (x < count - 1) sum += in[t + 1];
  if (y > 0) sum += in[t - count];
  if (y < count - 1) sum += in[t + count];
  out[t] = sum * 0.2f;
}

// The first `table_size` numbers rise; the others are looked up among them.
extern "C" __global__ void look_up(const float* in, int* out, int count) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= count) return;
  float key = in[table_size + i];
  int begin = 0, end = table_size;
  while (begin < end) {
    int middle = (begin + end) / 2;
    if (in[middle] < key)
      begin = middle + 1;
    else
      end = middle;
  }
  out[i] = begin;
}

extern "C" __global__ void square_stencil(const float* in, float* out, int count) {
  int x = blockIdx.x * blockDim.x + threadIdx.x;
  int y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= count || y >= count) return;
  int at = y * count + x;
  float sum = in[at];
  if (x > 0) sum += in[at - 1];
  if (x < count - 1) sum += in[at + 1];
  if (y > 0) sum += in[at - count];
  if (y < count - 1) sum += in[at + count];
  out[at] = sum * 0.2f;
}
