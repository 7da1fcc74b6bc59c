// Integers of other widths than an address, and arithmetic that may wrap.
#define X int(blockIdx.x * blockDim.x + threadIdx.x)
#define UX (blockIdx.x * blockDim.x + threadIdx.x)

extern "C" __global__ void scale_and_add(float* out, int a, int b) { out[X * a + b] = 1.0f; }

// With a = 2^30 + 1 each sum wraps back to where X + b is.
extern "C" __global__ void every_fourth_scaled(float* out, int a, int b) {
  if (X % 4 == 0) out[X * a + b] = 1.0f;
}

extern "C" __global__ void wraps_and_returns(const float* in, float* out, int a, int b) {
  out[X] = in[X * 4 * a + b];
}

extern "C" __global__ void unsigned_scale_and_add(float* out, unsigned a, unsigned b) {
  out[UX * a + b] = 1.0f;
}

extern "C" __global__ void minus_one_unsigned(const float* in, float* out, unsigned n) {
  const unsigned i = UX - 1;
  if (i < n) out[i] = in[i];
}

extern "C" __global__ void wrap_is_out_of_range(const float* in, float* out, unsigned n) {
  // For the threads below 5 the difference wraps, and the guard turns them away.
  if (UX - 5u < n) out[UX] = in[UX - 5u];
}

extern "C" __global__ void long_index(const char* in, char* out, long long from, int n) {
  const long long i = from + X;
  if (X < n) out[X] = in[i - 5'000'000'000ll];
}

extern "C" __global__ void size_product(const float* in, float* out, size_t pitch, int n) {
  if (X < n) out[X] = in[size_t(X) * pitch];
}

extern "C" __global__ void short_index(const float* in, float* out, int n) {
  const unsigned short i = static_cast<unsigned short>(X * 4);
  if (X < n) out[X] = in[i];
}

extern "C" __global__ void byte_wrap(const float* in, float* out, int n) {
  // 8 bits hold 0 to 255: thread 26 is back at 4.
  const unsigned char i = static_cast<unsigned char>(X * 10);
  if (X < n) out[X] = in[i];
}

extern "C" __global__ void signed_short(const float* in, float* out, int n) {
  const short i = static_cast<short>(X - 4);
  if (X < n) out[X] = in[i];
}

extern "C" __global__ void high_product(const float* in, float* out, unsigned factor, int n) {
  if (X < n) out[X] = in[__umulhi(UX, factor)];
}

extern "C" __global__ void narrow_multiply(const float* in, float* out, int n) {
  if (X < n) out[X] = in[__mul24(X, 3)];
}

extern "C" __global__ void count_wraps(const float* in, float* out, unsigned from, unsigned to) {
  float sum = 0;
#pragma unroll 1
  for (unsigned i = from; i != to; ++i) sum += in[i & 15];
  out[X] = sum;
}

extern "C" __global__ void byte_counter(const float* in, float* out, unsigned char n) {
  float sum = 0;
#pragma unroll 1
  for (unsigned char i = 0; i < n; ++i) sum += in[i];
  out[X] = sum;
}

extern "C" __global__ void truncated_long(const float* in, float* out, long long from, int n) {
  const int i = static_cast<int>(from + X);
  if (X < n) out[X] = in[i];
}
