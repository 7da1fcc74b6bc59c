// Kernels whose footprints are known. One thread per element or as said.
#include "../../samples/stencil/stencil_kernel.cuh"

#define INDEX_X int(blockIdx.x * blockDim.x + threadIdx.x)
#define INDEX_Y int(blockIdx.y * blockDim.y + threadIdx.y)

extern "C" __global__ void scale(const float* in, float* out, int n, float alpha) {
  int i = INDEX_X;
  if (i < n) out[i] = alpha * in[i];
}

extern "C" __global__ void gemm(const float* a, const float* b, float* c, int m, int n, int k) {
  int row = INDEX_Y, col = INDEX_X;
  if (row >= m || col >= n) return;
  float sum = 0;
  for (int i = 0; i < k; ++i) sum += a[row * k + i] * b[i * n + col];
  c[row * n + col] = sum;
}

// m, n and k are multiples of 4, and so are the blocks.
extern "C" __global__ void tiled_gemm(const float* a, const float* b, float* c, int n, int k) {
  __shared__ float tile_a[4][4], tile_b[4][4];
  int row = INDEX_Y, col = INDEX_X;
  float sum = 0;
  for (int base = 0; base < k; base += 4) {
    tile_a[threadIdx.y][threadIdx.x] = a[row * k + base + threadIdx.x];
    tile_b[threadIdx.y][threadIdx.x] = b[(base + threadIdx.y) * n + col];
    __syncthreads();
    for (int i = 0; i < 4; ++i) sum += tile_a[threadIdx.y][i] * tile_b[i][threadIdx.x];
    __syncthreads();
  }
  c[row * n + col] = sum;
}

extern "C" __global__ void gather(const float* in, const int* index, float* out, int n) {
  int i = INDEX_X;
  if (i < n) out[i] = in[index[i]];
}

extern "C" __global__ void scatter(const float* in, const int* index, float* out, int n) {
  int i = INDEX_X;
  if (i < n) out[index[i]] = in[i];
}

extern "C" __global__ void lookup(const unsigned char* in, const float* table, float* out, int n) {
  int i = INDEX_X;
  if (i < n) out[i] = table[in[i]];
}

extern "C" __global__ void conditional_write(const float* in, const int* flag, float* out, int n) {
  int i = INDEX_X;
  if (i < n && flag[i] > 3) out[i] = in[i];
}

extern "C" __global__ void early_exit(const float* in, const int* flag, float* out, int n) {
  int i = INDEX_X;
  if (i >= n) return;
  if (flag[blockIdx.x] < 0) return;
  out[i] = in[i];
}

extern "C" __global__ void divide_index(const float* in, float* out, int n) {
  int i = INDEX_X;
  if (i < n) out[(i % 10) * 10 + i / 10] = in[i];
}

extern "C" __global__ void divide_by_scalar(const float* in, float* out, int n, unsigned width) {
  unsigned i = INDEX_X;
  if (i < n) out[(i % width) * width + i / width] = in[i];
}

extern "C" __global__ void choose_index(const float* in, float* out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const int from = i % 3 == 0 ? 2 * i : 100 - i;
  out[threadIdx.x < 5 ? i : i + 200] = in[from];
}

extern "C" __global__ void divide_signed(const float* in, float* out, int n, int five,
                                         unsigned seven) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const unsigned small = 17u * i + 5u;
  out[i] = in[(((i - 12) / five * 30 + 100) >> 3) + small % seven];
}

extern "C" __global__ void mask_index(const float* in, float* out, int n) {
  int i = INDEX_X;
  if (i < n) out[i ^ 0] = in[(i & 15) + (i >> 4) * 32];
}

extern "C" __global__ void csr(const int* row, const int* column, const float* value, const float* x,
                               float* y, int n) {
  int i = INDEX_X;
  if (i >= n) return;
  float sum = 0;
  for (int k = row[i]; k < row[i + 1]; ++k) sum += value[k] * x[column[k]];
  y[i] = sum;
}

extern "C" __global__ void grid_stride(const float* in, float* out, int n) {
  for (int i = INDEX_X; i < n; i += blockDim.x * gridDim.x) out[i] = in[n - 1 - i];
}

extern "C" __global__ void vector_copy(const float4* in, float4* out, int n) {
  int i = INDEX_X;
  if (i < n) out[i] = in[i];
}

extern "C" __global__ void transpose(const double* in, double* out, int width, int height) {
  __shared__ double tile[4][5];
  int x = blockIdx.x * 4 + threadIdx.x, y = blockIdx.y * 4 + threadIdx.y;
  if (x < width && y < height) tile[threadIdx.y][threadIdx.x] = in[y * width + x];
  __syncthreads();
  x = blockIdx.y * 4 + threadIdx.x;
  y = blockIdx.x * 4 + threadIdx.y;
  if (x < height && y < width) out[y * height + x] = tile[threadIdx.x][threadIdx.y];
}

extern "C" __global__ void clamp_edges(const float* in, float* out, int n) {
  int i = INDEX_X;
  if (i >= n) return;
  int left = max(i - 1, 0), right = min(i + 1, n - 1);
  out[i] = in[left] + in[right];
}

extern "C" __global__ void triangle(const float* in, float* out, int n) {
  int i = INDEX_X;
  if (i >= n) return;
  float sum = 0;
  for (int j = 0; j <= i; ++j) sum += in[i * n + j];
  out[i] = sum;
}

struct Image {
  float* pixels;
  int width;
  int height;
  float gain;
};
extern "C" __global__ void image_gain(Image from, Image to) {
  int x = INDEX_X, y = INDEX_Y;
  if (x < from.width && y < from.height) {
    to.pixels[y * to.width + x] = from.gain * from.pixels[y * from.width + x];
  }
}

extern "C" __global__ void shift_bytes(const char* in, char* out, size_t from, int n) {
  int i = INDEX_X;
  if (i < n) out[i] = (in + from)[i];
}

extern "C" __global__ void walk_pointer(const float* in, float* out, int n, int stride) {
  const float* p = in + INDEX_X;
  float sum = 0;
  for (const float* end = p + n * stride; p != end; p += stride) sum += *p;
  out[INDEX_X] = sum;
}

extern "C" __global__ void choose_pointer(float* a, float* b, int n) {
  int i = INDEX_X;
  float* p = threadIdx.x & 1 ? a : b;
  if (i < n) p[i] = 1.0f;
}

extern "C" __global__ void histogram(const unsigned char* in, int* bins, int n) {
  int i = INDEX_X;
  if (i < n) atomicAdd(&bins[in[i] & 31], 1);
}

extern "C" __global__ void block_sum(const float* in, float* total) {
  __shared__ float partial[64];
  partial[threadIdx.x] = in[INDEX_X];
  __syncthreads();
  for (int s = blockDim.x / 2; s > 0; s >>= 1) {
    if (threadIdx.x < s) partial[threadIdx.x] += partial[threadIdx.x + s];
    __syncthreads();
  }
  if (threadIdx.x == 0) atomicAdd(total, partial[0]);
}

extern "C" __global__ void block_sums(const float* in, float* out) {
  float v = in[INDEX_X];
  for (int offset = 16; offset > 0; offset >>= 1) v += __shfl_down_sync(~0u, v, offset);
  if (threadIdx.x == 0) out[blockIdx.x] = v;
}

extern "C" __global__ void wrap_around(float* out, int a, int b) { out[INDEX_X * a + b] = 1.0f; }

extern "C" __global__ void pointer_table(float* const* rows, int n) {
  int i = INDEX_X;
  if (i < n) rows[blockIdx.y][i] = 0.0f;
}

extern "C" __global__ void spin(volatile int* flag, float* out) {
  while (*flag == 0) {
  }
  out[INDEX_X] = 1.0f;
}

extern "C" __global__ void lock(int* mutex, float* out) {
  while (atomicCAS(mutex, 0, 1) != 0) {
  }
  out[0] += 1.0f;
  __threadfence();
  atomicExch(mutex, 0);
}

// In the next five a thread goes on by a branch on what it loaded, not by an exit condition made of it.
extern "C" __global__ void step_when_set(volatile int* start, int* order, int n) {
  int k = n - 1 - INDEX_X;
  while (k >= 0) {
    const int s = start[k];
    if (s >= 0) {
      order[s] = k;
      k -= int(gridDim.x * blockDim.x);
    }
  }
}

extern "C" __global__ void flag_set_in_a_loop(volatile int* ready, float* out, int n) {
  bool again = true;
  while (again) {
    again = false;
    for (int i = 0; i < n; ++i)
      if (ready[i] == 0) again = true;
  }
  out[INDEX_X] = 1.0f;
}

extern "C" __global__ void while_missing(volatile int* child, float* out) {
  int missing = 4;
  do {
    if (child[missing - 1] >= 0) --missing;
  } while (missing > 0);
  out[INDEX_X] = 1.0f;
}

extern "C" __global__ void exit_behind_an_atomic(int* count, float* out, int n) {
  for (int i = 0;; ++i) {
    if (atomicAdd(count, 0) == n) {
      if (out[INDEX_X] > 0.0f) break;
      return;
    }
  }
  out[INDEX_X] = float(n);
}

__device__ __noinline__ bool arrived(volatile int* count, int n) {
  if (*count < n) return false;
  return true;
}

extern "C" __global__ void wait_by_a_function(int* count, float* out, int n) {
  int rounds = 0;
  while (!arrived(count, n))
    ++rounds;
  out[INDEX_X] = float(rounds);
}

// These two only count what they loaded: how often they go round depends on nothing but n.
extern "C" __global__ void count_set(volatile int* ready, float* out, int n) {
  int set = 0;
  for (int i = 0; i < n; ++i)
    if (ready[i] != 0) ++set;
  out[INDEX_X] = float(set);
}

extern "C" __global__ void claim_each(int* owner, float* out, int n) {
  for (int i = 0; i < n; ++i) {
    if (atomicCAS(owner + i, 0, 1) == 0) {
      out[i] = 1.0f;
      continue;
    }
    if (i % 3 == 0) out[INDEX_X] += 1.0f;
  }
}

extern "C" __global__ void atomic_max(float* out, const float* in) {
  int* place = reinterpret_cast<int*>(out);
  int old = *place, assumed;
  do {
    assumed = old;
    old = atomicCAS(place, assumed, __float_as_int(fmaxf(__int_as_float(assumed), in[INDEX_X])));
  } while (old != assumed);
}

extern "C" __device__ __noinline__ float helper(const float* in, int i) { return in[i] + in[i + 1]; }
extern "C" __global__ void calls_helper(const float* in, float* out, int n) {
  int i = INDEX_X;
  if (i < n) out[i] = helper(in, i);
}

extern "C" __device__ int counter;
__device__ int counter;
extern "C" __global__ void module_variable(int* out) {
  counter = 1;
  out[INDEX_X] = 2;
}

__constant__ float weights[3];
extern "C" __global__ void constant_weights(const float* in, float* out, int n) {
  int i = INDEX_X;
  if (i >= 1 && i < n - 1) {
    float sum = 0;
    for (int k = 0; k < 3; ++k) sum += weights[k] * in[i + k - 1];
    out[i] = sum;
  }
}

extern "C" __global__ void stencil3d(const float* in, float* out, int nx, int ny, int nz) {
  int x = INDEX_X, y = INDEX_Y, z = blockIdx.z * blockDim.z + threadIdx.z;
  if (x > 0 && y > 0 && z > 0 && x < nx - 1 && y < ny - 1 && z < nz - 1) {
    int i = (z * ny + y) * nx + x;
    out[i] = in[i] + in[i - 1] + in[i + 1] + in[i - nx] + in[i + nx] + in[i - nx * ny] +
             in[i + nx * ny];
  }
}

extern "C" __global__ void escape_time(float* out, int n, float limit) {
  int i = INDEX_X;
  if (i >= n) return;
  float x = 0, steps = 0;
  while (x * x < limit && steps < 100.0f) {
    x = x * x + i;
    steps += 1.0f;
  }
  out[i] = steps;
}

extern "C" __global__ void two_parts(float* out, int n, int mode) {
  int i = INDEX_X;
  if (i >= n) return;
  if (mode == 0) out[i] = 1.0f;
  else out[2 * i] = 2.0f;
}

// The size is no base, whatever is loaded.
extern "C" __global__ void loaded_pointer_plus_size(char* const* rows, size_t from) {
  (rows[blockIdx.x] + from)[threadIdx.x] = 0;
}

// An index that is loaded does not make the pointer uncertain.
extern "C" __global__ void pointer_plus_loaded_size(const size_t* from, char* out) {
  (out + from[blockIdx.x])[threadIdx.x] = 0;
}

// Whether the last loop runs depends on the index, and where it starts on the loop before.
extern "C" __global__ void two_loops(const float* in, float* out, int n) {
  int i = INDEX_X, j = 0;
  float sum = 0;
  for (; j < i && j < n; j += 2) sum += in[2 * j];
  for (; j < n; ++j) sum += in[j];
  out[i] = sum;
}

// Only data say how far each thread goes on.
extern "C" __global__ void ends_of_keys(const unsigned char* keys, const unsigned* from,
                                        const unsigned* lengths, unsigned* out, unsigned n) {
  unsigned i = INDEX_X;
  if (i >= n) return;
  const unsigned char* key = keys + from[i];
  unsigned length = lengths[i], sum = i;
  for (unsigned j = 0; j < length / 4; ++j) sum = sum * 5 + key[4 * j];
  const unsigned char* end = key + length / 4 * 4;
  switch (length % 4) {
    case 3: sum ^= end[2] << 16;
    case 2: sum ^= end[1] << 8;
    case 1: sum ^= end[0];
  }
  out[i] = sum;
}
