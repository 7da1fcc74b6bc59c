// Blocks of one launch that touch the same bytes, and their right twins.
#include "seeded.hpp"

__global__ void add_previous(float* out, const float* in, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= 96 && i < n) out[i] = in[i - 96] + 1;  // add-previous
}

static void previous(bool is_right) {
  float* a = zeros<float>(1000);
  float* b = is_right ? zeros<float>(1000) : a;
  add_previous<<<blocks_for(1000, 96), 96>>>(b, a, 1000);
}

__global__ void smooth(float* out, const float* in, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < 1 || i >= n - 1) return;
  float sum = 0;
  for (int d = -1; d <= 1; ++d) sum += in[i + d];
  out[i] = sum / 3;  // smooth
}

static void in_place_stencil(bool is_right) {
  float* a = zeros<float>(777);
  float* b = is_right ? zeros<float>(777) : a;
  smooth<<<blocks_for(777, 128), 128>>>(b, a, 777);
}

__global__ void count_plainly(int* counts, const int* values) {
  counts[threadIdx.x] += values[blockIdx.x * blockDim.x + threadIdx.x];  // count-plainly
}

__global__ void count_atomically(int* counts, const int* values) {
  atomicAdd(&counts[threadIdx.x], values[blockIdx.x * blockDim.x + threadIdx.x]);
}

static void lost_updates(bool is_right) {
  int *counts = zeros<int>(60), *values = zeros<int>(60 * 7);
  if (is_right) {
    count_atomically<<<7, 60>>>(counts, values);
  } else {
    count_plainly<<<7, 60>>>(counts, values);
  }
}

__global__ void total(float* out, const float* in, int n, bool is_each) {
  __shared__ float sums[64];
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  sums[threadIdx.x] = i < n ? in[i] : 0;
  __syncthreads();
  for (int half = 32; half > 0; half /= 2) {
    if (threadIdx.x < half) sums[threadIdx.x] += sums[threadIdx.x + half];
    __syncthreads();
  }
  if (threadIdx.x == 0) out[is_each ? blockIdx.x : 0] = sums[0];  // total
}

static void totals(bool is_right) {
  total<<<blocks_for(500, 64), 64>>>(zeros<float>(8), zeros<float>(500), 500, is_right);
}

__global__ void tiles(float* out, const float* in, int n, int stride) {
  int i = blockIdx.x * stride + threadIdx.x;
  if (i < n) out[i] = in[i] * (blockIdx.x + 1);  // tiles
}

static void overlapping_tiles(bool is_right) {
  tiles<<<11, 33>>>(zeros<float>(363), zeros<float>(363), 363, is_right ? 33 : 32);
}

__global__ void transpose(float* out, const float* in, int n) {
  int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x < n && y < n) out[x * n + y] = in[y * n + x];  // transpose
}

static void in_place_transpose(bool is_right) {
  float* a = zeros<float>(50 * 50);
  float* b = is_right ? zeros<float>(50 * 50) : a;
  transpose<<<dim3(4, 7), dim3(16, 8)>>>(b, a, 50);
}

__global__ void set_flag(int* flag, const int* in, bool is_same) {
  int seen = in[blockIdx.x * blockDim.x + threadIdx.x];
  if (threadIdx.x == 0) *flag = is_same ? 1 : seen;  // set-flag
}

static void flag(bool is_right) {
  set_flag<<<5, 40>>>(zeros<int>(1), zeros<int>(200), is_right);
}

__global__ void rows(int* out, int width, int pitch) {
  int x = blockIdx.x * blockDim.x + threadIdx.x;
  if (x < width) out[blockIdx.y * pitch + x] = blockIdx.y;  // rows
}

static void forgotten_row(bool is_right) {
  rows<<<dim3(2, 6), 48>>>(zeros<int>(6 * 70), 70, is_right ? 70 : 0);
}

__global__ void scale(float* out, const float* in, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = 2 * in[i];  // scale
}

static void overlapping_arguments(bool is_right) {
  float* a = zeros<float>(400);
  scale<<<blocks_for(150, 50), 50>>>(a + (is_right ? 200 : 1), a, 150);
}

__device__ int winner;
__global__ void choose(const int* values) {
  if (values[blockIdx.x] >= 0) winner = 1;
}
__global__ void choose_any(const int* values) {
  winner = values[blockIdx.x];  // choose-any
}

static void variable(bool is_right) {
  int* values = zeros<int>(9);
  if (is_right) {
    choose<<<9, 1>>>(values);
  } else {
    choose_any<<<9, 1>>>(values);
  }
}

// Right both times: the volatile load is no plain one, and what it sees is a hint.
__global__ void hinted(int* hint, int* out) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  out[i] = *static_cast<volatile int*>(hint) + i;
  if (i == 77) *hint = i;
}

static void volatile_hint(bool) { hinted<<<4, 30>>>(zeros<int>(1), zeros<int>(120)); }

// Right both times: what all blocks write is the same, and each reads what it has written itself.
__global__ void same_table(float* table, float* out, const float* step) {
  table[threadIdx.x] = threadIdx.x * *step;
  __syncthreads();
  float sum = 0;
  for (int i = 0; i < 30; ++i) sum += table[i];
  out[blockIdx.x * blockDim.x + threadIdx.x] = sum;
}

static void table(bool) {
  same_table<<<4, 30>>>(zeros<float>(30), zeros<float>(120), zeros<float>(1));
}

__global__ void strided(float* out, const float* in, int n) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
    out[i] += in[i];
}

static void grid_stride(bool) {
  strided<<<3, 50>>>(zeros<float>(1001), zeros<float>(1001), 1001);
}

int main(int argc, char** argv) {
  static const SeededCase cases[] = {{"previous", previous},
                                     {"in-place-stencil", in_place_stencil},
                                     {"lost-updates", lost_updates},
                                     {"totals", totals},
                                     {"overlapping-tiles", overlapping_tiles},
                                     {"in-place-transpose", in_place_transpose},
                                     {"flag", flag},
                                     {"forgotten-row", forgotten_row},
                                     {"overlapping-arguments", overlapping_arguments},
                                     {"variable", variable},
                                     {"volatile-hint", volatile_hint},
                                     {"table", table},
                                     {"grid-stride", grid_stride}};
  return run_case(cases, argc, argv);
}
