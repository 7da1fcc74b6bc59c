// Addresses that are products of indices: bounded, where they are not affine after all.
#define X int(blockIdx.x * blockDim.x + threadIdx.x)
#define Y int(blockIdx.y * blockDim.y + threadIdx.y)

extern "C" __global__ void square(const float* in, float* out, int n) {
  if (X < n) out[X] = in[X * X];
}

extern "C" __global__ void triangular_number(const float* in, float* out, int n) {
  if (X < n) out[X] = in[X * (X + 1) / 2];
}

extern "C" __global__ void product_of_indices(const float* in, float* out, int width, int height) {
  if (X < width && Y < height) out[Y * width + X] = in[X * Y];
}

extern "C" __global__ void product_with_scalars(const float* in, float* out, int a, int b, int n) {
  if (X < n) out[X] = in[X * a * b + a * a];
}

extern "C" __global__ void block_times_thread(float* out) {
  out[blockIdx.x * threadIdx.x] = 1.0f;
}

// Rows of growing length, packed: row i begins at i (i + 1) / 2.
extern "C" __global__ void packed_triangle(const float* in, float* out, int n) {
  if (X >= n) return;
  float sum = 0;
  for (int j = 0; j <= X; ++j) sum += in[X * (X + 1) / 2 + j];
  out[X] = sum;
}
