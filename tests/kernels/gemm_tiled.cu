// Matrix product through shared memory: static, then dynamic.
constexpr int tile = 16;

extern "C" __global__ void gemm_tiled(const float* a, const float* b, float* c, int n) {
  __shared__ float rows[tile][tile];
  __shared__ float columns[tile][tile];
  int x = blockIdx.x * tile + threadIdx.x;
  int y = blockIdx.y * tile + threadIdx.y;
  float sum = 0;
  for (int k = 0; k < n; k += tile) {
    rows[threadIdx.y][threadIdx.x] = a[y * n + k + threadIdx.x];
    columns[threadIdx.y][threadIdx.x] = b[(k + threadIdx.y) * n + x];
    __syncthreads();
    for (int i = 0; i < tile; ++i) sum += rows[threadIdx.y][i] * columns[i][threadIdx.x];
    __syncthreads();
  }
  c[y * n + x] = sum;
}

extern "C" __global__ void reverse_dynamic(const float4* in, float4* out) {
  extern __shared__ float4 pool[];
  int last = blockDim.x - 1;
  pool[threadIdx.x] = in[blockIdx.x * blockDim.x + threadIdx.x];
  __syncthreads();
  out[blockIdx.x * blockDim.x + threadIdx.x] = pool[last - threadIdx.x];
}
