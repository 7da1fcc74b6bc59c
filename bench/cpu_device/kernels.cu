// The kernels of the benchmark, as a user would write them. kernels.cl is the same in OpenCL.
#include "shapes.hpp"

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
  __shared__ float rows[gemm_tile][gemm_tile];
  __shared__ float columns[gemm_tile][gemm_tile];
  int x = blockIdx.x * gemm_tile + threadIdx.x;
  int y = blockIdx.y * gemm_tile + threadIdx.y;
  float sum = 0;
  for (int k = 0; k < n; k += gemm_tile) {
    rows[threadIdx.y][threadIdx.x] = a[y * n + k + threadIdx.x];
    columns[threadIdx.y][threadIdx.x] = b[(k + threadIdx.y) * n + x];
    __syncthreads();
    for (int i = 0; i < gemm_tile; ++i)
      sum += rows[threadIdx.y][i] * columns[i][threadIdx.x];
    __syncthreads();
  }
  c[y * n + x] = sum;
}

extern "C" __global__ void nbody(const float4* bodies, float4* forces, int count) {
  __shared__ float4 tile[nbody_block];
  int self = blockIdx.x * blockDim.x + threadIdx.x;
  float4 me = bodies[self];
  float fx = 0, fy = 0, fz = 0;
  for (int first = 0; first < count; first += nbody_block) {
    tile[threadIdx.x] = bodies[first + threadIdx.x];
    __syncthreads();
    for (int i = 0; i < nbody_block; ++i) {
      float dx = tile[i].x - me.x;
      float dy = tile[i].y - me.y;
      float dz = tile[i].z - me.z;
      float near = rsqrtf(dx * dx + dy * dy + dz * dz + nbody_softening);
      float weight = tile[i].w * near * near * near;
      fx += dx * weight;
      fy += dy * weight;
      fz += dz * weight;
    }
    __syncthreads();
  }
  forces[self] = make_float4(fx, fy, fz, 0);
}

// Each block adds up one contiguous part.
extern "C" __global__ void reduce(const float* in, float* out, int count) {
  __shared__ float pool[reduce_block];
  unsigned t = threadIdx.x;
  float sum = 0;
  int part = (count + int(gridDim.x) - 1) / int(gridDim.x);
  int begin = blockIdx.x * part;
  int end = min(begin + part, count);
  for (int i = begin + t; i < end; i += blockDim.x)
    sum += in[i];
  pool[t] = sum;
  __syncthreads();
  for (unsigned half = reduce_block / 2; half > 0; half >>= 1) {
    if (t < half) pool[t] += pool[t + half];
    __syncthreads();
  }
  if (t == 0) out[blockIdx.x] = pool[0];
}

extern "C" __global__ void transpose(const float* in, float* out, int width, int height) {
  __shared__ float tile[transpose_tile][transpose_tile + 1];
  int x = blockIdx.x * transpose_tile + threadIdx.x;
  int y = blockIdx.y * transpose_tile + threadIdx.y;
  for (int row = 0; row < transpose_tile; row += transpose_rows)
    tile[threadIdx.y + row][threadIdx.x] = in[(y + row) * width + x];
  __syncthreads();
  x = blockIdx.y * transpose_tile + threadIdx.x;
  y = blockIdx.x * transpose_tile + threadIdx.y;
  for (int row = 0; row < transpose_tile; row += transpose_rows)
    out[(y + row) * height + x] = tile[threadIdx.x][threadIdx.y + row];
}
