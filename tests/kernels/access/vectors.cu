// Accesses wider or narrower than a register.
#define X int(blockIdx.x * blockDim.x + threadIdx.x)

extern "C" __global__ void copy_float4(const float4* in, float4* out, int n) {
  if (X < n) out[X] = in[X];
}

extern "C" __global__ void copy_double2(const double2* in, double2* out, int n) {
  if (X < n) out[X] = in[X];
}

extern "C" __global__ void copy_uchar4(const uchar4* in, uchar4* out, int n) {
  if (X < n) out[X] = in[X];
}

extern "C" __global__ void widen_bytes(const unsigned char* in, int* out, int n) {
  if (X < n) out[X] = in[X];
}

extern "C" __global__ void copy_shorts(const short* in, short* out, int n) {
  if (X < n) out[X] = in[X] + 1;
}

extern "C" __global__ void split_float4(const float4* in, float* x, float* w, int n) {
  if (X >= n) return;
  const float4 value = in[X];
  x[X] = value.x;
  w[X] = value.w;
}

// Sixteen bytes stored over what is read as single floats two places on.
extern "C" __global__ void float4_from_shifted(const float* in, float4* out, int n) {
  if (X < n) out[X] = make_float4(in[4 * X + 2], in[4 * X + 3], in[4 * X + 4], in[4 * X + 5]);
}
