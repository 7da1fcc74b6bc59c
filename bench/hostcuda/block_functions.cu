// The kernels of the benchmark, as a user would write them.
extern "C" __global__ void stencil(const float* in, float* out, int width, int height) {
  int x = blockIdx.x * blockDim.x + threadIdx.x;
  int y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= width || y >= height) return;
  int at = y * width + x;
  float sum = in[at];
  if (x > 0) sum += in[at - 1];
  if (x < width - 1) sum += in[at + 1];
  if (y > 0) sum += in[at - width];
  if (y < height - 1) sum += in[at + width];
  out[at] = sum * 0.2f;
}

extern "C" __global__ void gemm(const float* a, const float* b, float* c, int n) {
  __shared__ float rows[16][16];
  __shared__ float columns[16][16];
  int x = blockIdx.x * 16 + threadIdx.x;
  int y = blockIdx.y * 16 + threadIdx.y;
  float sum = 0;
  for (int k = 0; k < n; k += 16) {
    rows[threadIdx.y][threadIdx.x] = a[y * n + k + threadIdx.x];
    columns[threadIdx.y][threadIdx.x] = b[(k + threadIdx.y) * n + x];
    __syncthreads();
    for (int i = 0; i < 16; ++i)
      sum += rows[threadIdx.y][i] * columns[i][threadIdx.x];
    __syncthreads();
  }
  c[y * n + x] = sum;
}

extern "C" __global__ void reduce(const float* in, float* out) {
  __shared__ float pool[256];
  unsigned t = threadIdx.x;
  pool[t] = in[blockIdx.x * 256 + t];
  __syncthreads();
  for (unsigned half = 128; half > 0; half >>= 1) {
    if (t < half) pool[t] += pool[t + half];
    __syncthreads();
  }
  if (t == 0) out[blockIdx.x] = pool[0];
}
