// Conditions on threads, blocks and scalars, and conditions on data.
#define X int(blockIdx.x * blockDim.x + threadIdx.x)
#define Y int(blockIdx.y * blockDim.y + threadIdx.y)

extern "C" __global__ void first_thread(float* out) {
  if (threadIdx.x == 0) out[blockIdx.x] = 1.0f;
}

extern "C" __global__ void first_block(const float* in, float* out) {
  if (blockIdx.x == 0) out[threadIdx.x] = in[threadIdx.x];
}

extern "C" __global__ void last_block(float* out, int n) {
  if (blockIdx.x == gridDim.x - 1 && X < n) out[X] = 1.0f;
}

extern "C" __global__ void odd_threads(float* out, int n) {
  if (X < n && threadIdx.x % 2 == 1) out[X] = 1.0f;
}

extern "C" __global__ void odd_blocks(const float* in, float* out) {
  if (blockIdx.x & 1) out[X] = in[X];
  else out[X] = in[X + 1];
}

extern "C" __global__ void by_mode(const float* in, float* out, int n, int mode) {
  if (X >= n) return;
  if (mode == 0) out[X] = in[X];
  else if (mode == 1) out[2 * X] = in[X];
  else out[X] = in[2 * X];
}

extern "C" __global__ void by_float(float* out, int n, float threshold) {
  if (X < n && threshold > 0.5f) out[X] = threshold;
}

extern "C" __global__ void inside_or_outside(float* inside, float* outside, int width, int height) {
  if (X >= width || Y >= height) return;
  const bool border = X == 0 || Y == 0 || X == width - 1 || Y == height - 1;
  if (border) outside[Y * width + X] = 1.0f;
  else inside[Y * width + X] = 1.0f;
}

extern "C" __global__ void diagonal_band(float* out, int n) {
  if (X < n && Y < n && abs(X - Y) <= 1) out[Y * n + X] = 1.0f;
}

extern "C" __global__ void below_diagonal(float* out, int n) {
  if (X < n && Y < n && X < Y) out[Y * n + X] = 1.0f;
}

extern "C" __global__ void warp_guard(const float* in, float* out) {
  float value = in[X];
  for (int offset = 16; offset > 0; offset >>= 1) value += __shfl_down_sync(~0u, value, offset);
  if ((threadIdx.x & 31) == 0) out[blockIdx.x * (blockDim.x / 32) + threadIdx.x / 32] = value;
}

extern "C" __global__ void by_data(const int* flag, const float* in, float* out, int n) {
  if (X < n && flag[X] > 0) out[X] = in[X];
}

extern "C" __global__ void return_on_data(const int* flag, const float* in, float* out, int n) {
  if (X >= n || flag[blockIdx.x] <= 0) return;
  out[X] = in[X];
}

extern "C" __global__ void both_ways_on_data(const int* flag, float* out, int n) {
  if (X >= n) return;
  if (flag[X] > 0) out[X] = 1.0f;
  else out[X] = 2.0f;
}

extern "C" __global__ void either_place_by_data(const int* flag, float* out, int n) {
  if (X < n) out[flag[X] > 0 ? X : X + n] = 1.0f;
}

extern "C" __global__ void by_vote(const int* flag, float* out) {
  if (__any_sync(~0u, flag[X] > 0)) out[X] = 1.0f;
}
