// Addresses that are affine in block, thread and loop counters.
#define X int(blockIdx.x * blockDim.x + threadIdx.x)
#define Y int(blockIdx.y * blockDim.y + threadIdx.y)
#define Z int(blockIdx.z * blockDim.z + threadIdx.z)

extern "C" __global__ void saxpy(const float* x, float* y, float a, int n) {
  if (X < n) y[X] += a * x[X];
}

extern "C" __global__ void reverse(const float* in, float* out, int n) {
  if (X < n) out[n - 1 - X] = in[X];
}

extern "C" __global__ void strided(const float* in, float* out, int n, int stride) {
  if (X < n) out[X] = in[X * stride];
}

extern "C" __global__ void strided_down(const float* in, float* out, int n, int stride) {
  if (X < n) out[X] = in[(n - 1 - X) * stride];
}

extern "C" __global__ void broadcast(const float* in, float* out, int n) {
  if (X < n) out[X] = in[0] + in[n - 1];
}

extern "C" __global__ void stencil_1d(const float* in, float* out, int n) {
  if (X > 0 && X < n - 1) out[X] = in[X - 1] + in[X] + in[X + 1];
}

extern "C" __global__ void stencil_2d(const float* in, float* out, int width, int height) {
  if (X < 1 || Y < 1 || X >= width - 1 || Y >= height - 1) return;
  const int i = Y * width + X;
  out[i] = in[i - width] + in[i - 1] + in[i + 1] + in[i + width];
}

extern "C" __global__ void stencil_3d(const float* in, float* out, int nx, int ny, int nz) {
  if (X < 1 || Y < 1 || Z < 1 || X >= nx - 1 || Y >= ny - 1 || Z >= nz - 1) return;
  const int i = (Z * ny + Y) * nx + X;
  out[i] = in[i] + in[i - 1] + in[i + 1] + in[i - nx] + in[i + nx] + in[i - nx * ny] +
           in[i + nx * ny];
}

extern "C" __global__ void transpose(const double* in, double* out, int width, int height) {
  if (X < width && Y < height) out[X * height + Y] = in[Y * width + X];
}

extern "C" __global__ void column_sums(const float* in, float* out, int rows, int columns) {
  if (X >= columns) return;
  float sum = 0;
  for (int row = 0; row < rows; ++row) sum += in[row * columns + X];
  out[X] = sum;
}

extern "C" __global__ void outer_product(const float* a, const float* b, float* c, int m, int n) {
  if (X < n && Y < m) c[Y * n + X] = a[Y] * b[X];
}

extern "C" __global__ void planes(const float* in, float* out, int plane) {
  out[int(blockIdx.y) * plane + X] = in[int(gridDim.y - 1 - blockIdx.y) * plane + X];
}

extern "C" __global__ void linear_block_id(float* out) {
  const unsigned block = (blockIdx.z * gridDim.y + blockIdx.y) * gridDim.x + blockIdx.x;
  const unsigned thread = (threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x;
  out[block * (blockDim.x * blockDim.y * blockDim.z) + thread] = 1.0f;
}

extern "C" __global__ void one_per_block(const float* in, float* out) {
  if (threadIdx.x == 0 && threadIdx.y == 0) {
    out[blockIdx.x + gridDim.x * blockIdx.y] = in[blockIdx.y];
  }
}

extern "C" __global__ void block_order_reversed(const float* in, float* out) {
  const int i = int((gridDim.x - 1 - blockIdx.x) * blockDim.x + threadIdx.x);
  out[i] = in[X];
}

extern "C" __global__ void interleaved(float* out, int n) {
  const int i = int(threadIdx.x * gridDim.x + blockIdx.x);
  if (i < n) out[2 * i + 1] = 1.0f;
}
