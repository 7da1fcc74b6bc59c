// Kernels of which one number changes from launch to launch: a pivot, a stage, a step.
#define INDEX_X int(blockIdx.x * blockDim.x + threadIdx.x)
#define INDEX_Y int(blockIdx.y * blockDim.y + threadIdx.y)

// The two kernels of a Gaussian elimination of n rows around pivot k.
extern "C" __global__ void eliminate_multipliers(float* m, const float* a, int n, int k) {
  if (INDEX_X >= n - 1 - k) return;
  m[n * (INDEX_X + k + 1) + k] = a[n * (INDEX_X + k + 1) + k] / a[n * k + k];
}

extern "C" __global__ void eliminate_rows(const float* m, float* a, float* b, int n, int k) {
  if (INDEX_X >= n - 1 - k || INDEX_Y >= n - k) return;
  int row = INDEX_X + 1 + k;
  a[n * row + INDEX_Y + k] -= m[n * row + k] * a[n * k + INDEX_Y + k];
  if (INDEX_Y == 0) b[row] -= m[n * row + k] * b[k];
}

extern "C" __global__ void floyd_warshall(float* d, int n, int k) {
  int x = INDEX_X, y = INDEX_Y;
  if (x < n && y < n) d[y * n + x] = fminf(d[y * n + x], d[y * n + k] + d[k * n + x]);
}

// One launch for the rest of a matrix behind `from`: the grid shrinks with it.
extern "C" __global__ void trailing_tiles(const float* in, float* out, int n, int from) {
  int x = from + INDEX_X, y = from + INDEX_Y;
  out[y * n + x] = in[y * n + from];
}

// `step` reaches no address and no branch around one; `gain` neither.
extern "C" __global__ void time_step(const float* in, float* out, int n, int step, float gain) {
  int i = INDEX_X;
  float value = step % 2 == 0 ? gain : -gain;
  if (i < n) out[i] = in[i] * value + float(step);
}

// Not affine in the stage.
extern "C" __global__ void butterfly(float* data, int stage) {
  int i = INDEX_X;
  int partner = i ^ stage;
  if (partner > i) data[i] += data[partner];
}

extern "C" __global__ void shifted_sum(const float* in, float* out, int n, int offset) {
  int i = INDEX_X;
  if (i < n) out[i] = in[i] + (i >= offset ? in[i - offset] : 0.0f);
}

extern "C" __global__ void read_window(const float* in, float* out, int from, int to) {
  float sum = 0;
  for (int j = from; j < to; ++j) sum += in[j];
  out[INDEX_X] = sum;
}

// One slice of a cube of 256^3 from the three around it, as PolyBench's 3D convolution launches it.
extern "C" __global__ void convolve_slice(const float* in, float* out, int i) {
  const int k = blockIdx.x * blockDim.x + threadIdx.x, j = blockIdx.y * blockDim.y + threadIdx.y;
  if (i < 255 && j < 255 && k < 255 && i > 0 && j > 0 && k > 0) {
    const float* at = in + i * 65536 + j * 256 + k;
    float sum = 0;
    for (int slice = -1; slice <= 1; ++slice) {
      for (int row = -1; row <= 1; ++row)
        sum += at[slice * 65536 + row * 256 - 1] + at[slice * 65536 + row * 256 + 1];
    }
    out[i * 65536 + j * 256 + k] = sum;
  }
}
