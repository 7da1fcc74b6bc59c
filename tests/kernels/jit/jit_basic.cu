// Kernels without barriers, for tests that compare bit by bit. Compiled with -fmad=false.
extern "C" __global__ void vector_add(const float* a, const float* b, float* c, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) c[i] = a[i] + b[i];
}

// Grid-stride loop in unsigned arithmetic.
extern "C" __global__ void scale_strided(float* data, float factor, unsigned n) {
  for (unsigned i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
    data[i] *= factor;
  }
}

extern "C" __global__ void stencil_guarded(const float* in, float* out, int width, int height) {
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

extern "C" __global__ void stencil_interior(const float* in, float* out, int width, int height) {
  int x = blockIdx.x * blockDim.x + threadIdx.x;
  int y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x < 1 || y < 1 || x >= width - 1 || y >= height - 1) return;
  int at = y * width + x;
  out[at] = 0.2f * (in[at] + in[at - 1] + in[at + 1] + in[at - width] + in[at + width]);
}

extern "C" __global__ void stencil_1d(const double* in, double* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < 1 || i >= n - 1) return;
  out[i] = (in[i - 1] + in[i] + in[i + 1]) / 3.0;
}

extern "C" __global__ void stencil_3d(const float* in, float* out, int nx, int ny, int nz) {
  int x = blockIdx.x * blockDim.x + threadIdx.x;
  int y = blockIdx.y * blockDim.y + threadIdx.y;
  int z = blockIdx.z * blockDim.z + threadIdx.z;
  if (x >= nx || y >= ny || z >= nz) return;
  size_t plane = size_t(nx) * ny;
  size_t at = z * plane + size_t(y) * nx + x;
  float sum = in[at] * 2.0f;
  if (x > 0) sum += in[at - 1];
  if (x + 1 < nx) sum += in[at + 1];
  if (y > 0) sum += in[at - nx];
  if (y + 1 < ny) sum += in[at + nx];
  if (z > 0) sum += in[at - plane];
  if (z + 1 < nz) sum += in[at + plane];
  out[at] = sum;
}

// Every thread writes which thread of which block it is.
extern "C" __global__ void identify(unsigned* out) {
  unsigned block = (blockIdx.z * gridDim.y + blockIdx.y) * gridDim.x + blockIdx.x;
  unsigned thread = (threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x;
  unsigned threads = blockDim.x * blockDim.y * blockDim.z;
  out[block * threads + thread] = block << 16 | thread;
}

// Multiplication and addition are rounded apart, a fused one once.
extern "C" __global__ void rounding(const float* a, const float* b, const float* c, float* apart,
                                    float* fused, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  apart[i] = a[i] * b[i] + c[i];
  fused[i] = fmaf(a[i], b[i], c[i]);
}

extern "C" __global__ void doubles(const double* in, double* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  double x = in[i];
  out[i] = sqrt(x) / (1.0 + x * x) - fma(x, 3.25, -1e-300) + rint(x) + double(int(x));
}

// A loop whose trip count differs between threads.
extern "C" __global__ void collatz(const unsigned* in, unsigned* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  unsigned steps = 0;
  for (unsigned value = in[i]; value > 1; ++steps) value = value & 1 ? 3 * value + 1 : value / 2;
  out[i] = steps;
}
