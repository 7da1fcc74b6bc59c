// Kernels in which the compiler leaves a form that is harder to read than the source: remainders
// of unrolled loops, conditions that are no comparisons, tables of jumps.
#define INDEX_X int(blockIdx.x * blockDim.x + threadIdx.x)

// Grid-stride over rows whose length is a scalar: nvcc unrolls the inner loop with a prologue.
extern "C" __global__ void row_sums(const float* in, float* out, int rows, int length) {
  for (int row = blockIdx.x; row < rows; row += gridDim.x) {
    float sum = 0;
    for (int i = row * length + threadIdx.x; i < (row + 1) * length; i += blockDim.x) sum += in[i];
    out[row * blockDim.x + threadIdx.x] = sum;
  }
}

// As many rows as there are so far: nvcc unrolls the loop by four, and a second one does the rest.
extern "C" __global__ void weigh_rows(const float* weights, const float* in, float* out, int rows) {
  int i = INDEX_X;
  float sum = 0;
  for (int at = 0; at < rows; ++at) sum += weights[at] * in[at * 32 + i];
  out[i] = sum;
}

// The first element that is as large; the loop ends in the middle.
extern "C" __global__ void first_above(const float* in, const float* limit, int* out, int n) {
  int i = INDEX_X;
  if (i >= n) return;
  int found = -1;
  for (int x = 0; x < n; ++x) {
    if (in[x] >= limit[i]) {
      found = x;
      break;
    }
  }
  out[i] = found == -1 ? n - 1 : found;
}

extern "C" __global__ void by_case(const float* in, float* out) {
  int i = INDEX_X;
  switch (threadIdx.x & 3) {
    case 0: out[i] = in[i]; break;
    case 1: out[i] = in[i] + in[i + 64]; break;
    case 2: out[i] = 2 * in[i + 128]; break;
    case 3: out[i] = in[i] - in[i + 192]; break;
  }
}

// A tile of 16 rows, unrolled as in a blocked factorisation.
extern "C" __global__ void tile_rows(float* m, int width, int offset) {
  __shared__ float tile[16][16];
#pragma unroll
  for (int i = 0; i < 16; ++i)
    tile[i][threadIdx.x] = m[(offset + i) * width + offset + 16 * (blockIdx.x + 1) + threadIdx.x];
  __syncthreads();
#pragma unroll
  for (int i = 1; i < 16; ++i)
    m[(offset + i) * width + offset + 16 * (blockIdx.x + 1) + threadIdx.x] =
        tile[i][threadIdx.x] - tile[i - 1][15 - threadIdx.x];
}

// Functions that call each other twice: 2^14 bodies if all were looked into.
template <int depth>
__device__ __noinline__ float twice(float x) {
  return twice<depth - 1>(x * 1.5f) + twice<depth - 1>(x + depth);
}
template <>
__device__ __noinline__ float twice<0>(float x) {
  return x;
}
extern "C" __global__ void many_calls(const float* in, float* out) {
  out[INDEX_X] = twice<14>(in[INDEX_X]);
}
