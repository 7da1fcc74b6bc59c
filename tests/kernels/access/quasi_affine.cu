// Divisions, remainders, shifts, masks, minima, maxima and selections.
#define X int(blockIdx.x * blockDim.x + threadIdx.x)
#define Y int(blockIdx.y * blockDim.y + threadIdx.y)

extern "C" __global__ void take_quotient(const float* in, float* out, int n) {
  if (X < n) out[X] = in[X / 3];
}

extern "C" __global__ void take_remainder(const float* in, float* out, int n) {
  if (X < n) out[X] = in[X % 7];
}

extern "C" __global__ void divide_by_scalar(const float* in, float* out, int n, unsigned width) {
  const unsigned i = X;
  if (i < n) out[i % width * width + i / width] = in[i];
}

extern "C" __global__ void remainder_of_negative(const float* in, float* out, int n, int from) {
  if (X < n) out[X] = in[(X - from) % 5 + 4];
}

extern "C" __global__ void shift_left(const float* in, float* out, int n, int bits) {
  if (X < n) out[X << bits] = in[X];
}

extern "C" __global__ void shift_right(const float* in, float* out, int n) {
  if (X < n) out[X] = in[X >> 3];
}

extern "C" __global__ void mask_low(const float* in, float* out, int n) {
  if (X < n) out[X] = in[X & 7];
}

extern "C" __global__ void mask_high(const float* in, float* out, int n) {
  if (X < n) out[X] = in[X & ~3];
}

extern "C" __global__ void or_bits(const float* in, float* out, int n) {
  if (X < n) out[X] = in[(X << 1) | 1];
}

extern "C" __global__ void exclusive_or(const float* in, float* out, int n) {
  if (X < n) out[X] = in[X ^ 1];
}

// The partner in a bitonic or butterfly step.
extern "C" __global__ void butterfly(float* data, int distance) {
  const int partner = X ^ distance;
  if (partner > X) {
    const float a = data[X], b = data[partner];
    data[X] = fminf(a, b);
    data[partner] = fmaxf(a, b);
  }
}

extern "C" __global__ void clamp_1d(const float* in, float* out, int n) {
  if (X < n) out[X] = in[max(X - 2, 0)] + in[min(X + 2, n - 1)];
}

extern "C" __global__ void clamp_2d(const float* in, float* out, int width, int height) {
  if (X >= width || Y >= height) return;
  const int up = max(Y - 1, 0), right = min(X + 1, width - 1);
  out[Y * width + X] = in[up * width + right];
}

extern "C" __global__ void periodic(const float* in, float* out, int n) {
  if (X >= n) return;
  const int left = X == 0 ? n - 1 : X - 1;
  const int right = X == n - 1 ? 0 : X + 1;
  out[X] = in[left] + in[right];
}

extern "C" __global__ void periodic_remainder(const float* in, float* out, int n) {
  if (X < n) out[X] = in[(X + n - 1) % n] + in[(X + 1) % n];
}

extern "C" __global__ void select_half(const float* in, float* out, int n) {
  if (X < n) out[X] = in[threadIdx.x < 4 ? X : 2 * X];
}

extern "C" __global__ void absolute_value(const float* in, float* out, int n, int centre) {
  if (X < n) out[X] = in[abs(X - centre)];
}

extern "C" __global__ void tiles_in_a_row(const float* in, float* out, int tiles) {
  const int tile = int(blockIdx.x), row = tile / tiles, column = tile % tiles;
  const int x = column * 4 + int(threadIdx.x), y = row * 4 + int(threadIdx.y);
  out[y * tiles * 4 + x] = in[x * tiles * 4 + y];
}

extern "C" __global__ void bit_reverse(const float* in, float* out) {
  out[X] = in[__brev(X) >> 27];
}

extern "C" __global__ void average_up(const float* in, float* out, int n) {
  const int half = (n + 1) / 2;
  if (X < half) out[X] = in[2 * X] + in[min(2 * X + 1, n - 1)];
}
