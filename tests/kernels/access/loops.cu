// Loops with bounds that are affine, and bounds that only the data knows.
#define X int(blockIdx.x * blockDim.x + threadIdx.x)
#define Y int(blockIdx.y * blockDim.y + threadIdx.y)

extern "C" __global__ void row_sums(const float* in, float* out, int rows, int columns) {
  if (X >= rows) return;
  float sum = 0;
  for (int j = 0; j < columns; ++j) sum += in[X * columns + j];
  out[X] = sum;
}

extern "C" __global__ void gemm(const float* a, const float* b, float* c, int m, int n, int k) {
  if (Y >= m || X >= n) return;
  float sum = 0;
  for (int i = 0; i < k; ++i) sum += a[Y * k + i] * b[i * n + X];
  c[Y * n + X] = sum;
}

extern "C" __global__ void gemm_tiled(const float* a, const float* b, float* c, int n, int k) {
  __shared__ float tile_a[4][4], tile_b[4][4];
  float sum = 0;
  for (int base = 0; base < k; base += 4) {
    tile_a[threadIdx.y][threadIdx.x] = a[Y * k + base + threadIdx.x];
    tile_b[threadIdx.y][threadIdx.x] = b[(base + threadIdx.y) * n + X];
    __syncthreads();
    for (int i = 0; i < 4; ++i) sum += tile_a[threadIdx.y][i] * tile_b[i][threadIdx.x];
    __syncthreads();
  }
  c[Y * n + X] = sum;
}

extern "C" __global__ void triangle(const float* in, float* out, int n) {
  if (X >= n) return;
  float sum = 0;
#pragma unroll 1
  for (int j = 0; j <= X; ++j) sum += in[X * n + j];
  out[X] = sum;
}

extern "C" __global__ void upper_triangle(float* data, int n) {
  if (X >= n) return;
#pragma unroll 1
  for (int j = X + 1; j < n; ++j) data[X * n + j] = 0.0f;
}

extern "C" __global__ void grid_stride(const float* in, float* out, int n) {
  for (int i = X; i < n; i += blockDim.x * gridDim.x) out[i] = in[i];
}

extern "C" __global__ void block_stride(const float* in, float* out, int n) {
  for (int i = threadIdx.x; i < n; i += blockDim.x) out[blockIdx.x * n + i] = in[i];
}

extern "C" __global__ void count_down(const float* in, float* out, int n) {
  float sum = 0;
#pragma unroll 1
  for (int i = n - 1; i >= 0; --i) sum += in[i];
  out[X] = sum;
}

extern "C" __global__ void count_down_by_two(const float* in, float* out, int n) {
  float sum = 0;
#pragma unroll 1
  for (int i = n; i > 0; i -= 2) sum += in[i];
  out[X] = sum;
}

extern "C" __global__ void unsigned_counter(const float* in, float* out, unsigned n) {
  float sum = 0;
#pragma unroll 1
  for (unsigned i = 0; i < n; i += 3) sum += in[i];
  out[X] = sum;
}

extern "C" __global__ void unsigned_count_down(const float* in, float* out, unsigned n) {
  float sum = 0;
#pragma unroll 1
  for (unsigned i = n; i-- > 0;) sum += in[i];
  out[X] = sum;
}

extern "C" __global__ void long_counter(const float* in, float* out, long long n) {
  float sum = 0;
#pragma unroll 1
  for (long long i = 0; i < n; ++i) sum += in[i * 2];
  out[X] = sum;
}

extern "C" __global__ void at_least_once(const float* in, float* out, int n) {
  int i = 0;
  float sum = 0;
#pragma unroll 1
  do {
    sum += in[i++];
  } while (i < n);
  out[X] = sum;
}

extern "C" __global__ void three_loops(const float* in, float* out, int a, int b, int c) {
  float sum = 0;
#pragma unroll 1
  for (int i = 0; i < a; ++i)
#pragma unroll 1
    for (int j = 0; j < b; ++j)
#pragma unroll 1
      for (int k = 0; k < c; ++k) sum += in[(i * b + j) * c + k];
  out[X] = sum;
}

extern "C" __global__ void doubling(const float* in, float* out, int n) {
  float sum = 0;
#pragma unroll 1
  for (int i = 1; i < n; i *= 2) sum += in[i];
  out[X] = sum;
}

extern "C" __global__ void halving_tree(float* data) {
  for (int half = blockDim.x / 2; half > 0; half >>= 1) {
    if (threadIdx.x < half) data[X] += data[X + half];
    __syncthreads();
  }
}

extern "C" __global__ void until_data_says(const float* in, float* out, int n) {
  int i = 0;
  while (i < n && in[i] == 0.0f) ++i;
  out[X] = i;
}

extern "C" __global__ void rows_of_data_length(const int* length, const float* in, float* out,
                                               int pitch) {
  float sum = 0;
#pragma unroll 1
  for (int j = 0; j < length[X]; ++j) sum += in[X * pitch + j];
  out[X] = sum;
}

extern "C" __global__ void sparse_rows(const int* row, const int* column, const float* value,
                                       const float* x, float* y, int n) {
  if (X >= n) return;
  float sum = 0;
  for (int k = row[X]; k < row[X + 1]; ++k) sum += value[k] * x[column[k]];
  y[X] = sum;
}

// The loop's length is no matter of any address.
extern "C" __global__ void escape_time(float* out, int n, float limit) {
  if (X >= n) return;
  float z = 0, steps = 0;
  while (z * z < limit && steps < 100.0f) {
    z = z * z + X;
    steps += 1.0f;
  }
  out[X] = steps;
}

extern "C" __global__ void ten_time_steps(const float* in, float* out, int n, int steps) {
  if (X >= n) return;
  float value = in[X];
#pragma unroll 1
  for (int t = 0; t < steps; ++t) value = value * 0.5f + t;
  out[X] = value;
}
