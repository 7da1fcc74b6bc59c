// One kernel for each thing that keeps a footprint from being exact.
__global__ void gather(const float* table, const int* index, float* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = table[index[i]];
}

__global__ void sparse_rows(const int* row, const float* value, float* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  float sum = 0;
  for (int k = row[i]; k < row[i + 1]; ++k) sum += value[k];
  out[i] = sum;
}

__global__ void guarded(const float* in, const int* flag, float* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n && flag[i] != 0) out[i] = in[i];
}

__global__ void wrapping(float* out, int stride) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  out[i * stride] = 1.0f;
}

__global__ void product(float* out) {
  int i = threadIdx.x, j = blockIdx.x;
  out[(i * j) & 1023] = 1.0f;
}

__global__ void choice(float* a, float* b) {
  float* target = threadIdx.x & 1 ? a : b;
  target[blockIdx.x] = 1.0f;
}

__global__ void table_of_pointers(float* const* rows) { rows[blockIdx.x][threadIdx.x] = 0.0f; }

__global__ void grid_barrier(volatile int* arrived, float* out) {
  if (threadIdx.x == 0) {
    atomicAdd(const_cast<int*>(arrived), 1);
    while (*arrived < gridDim.x) {
    }
  }
  __syncthreads();
  out[blockIdx.x * blockDim.x + threadIdx.x] = 1.0f;
}

__global__ void assembly(float* out) {
  unsigned count;
  asm volatile("mov.u32 %0, %%total_smem_size;" : "=r"(count));
  out[blockIdx.x * blockDim.x + threadIdx.x] = float(count);
}

struct Image {
  float* pixels;
  int width;
};
__global__ void brighten(Image from, Image to) {
  int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x < from.width) to.pixels[y * to.width + x] = 2 * from.pixels[y * from.width + x];
}

__global__ void transposed(const double* in, double* out, int n) {
  int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x < n && y < n) out[x * n + y] = in[y * n + x];
}
