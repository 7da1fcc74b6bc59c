// Double precision, special functions and conversions.
extern "C" __global__ void doubles(const double* in, double* out, float* narrow, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  double x = in[i];
  out[i] = sqrt(x) + exp(-x) * sin(x) / (1.0 + x * x) - fma(x, 3.25, -1e-300) + rint(x);
  narrow[i] = __expf(float(x)) + __sinf(float(x)) + rsqrtf(float(x)) + float(__double2int_rz(x)) +
              __saturatef(float(x)) + copysignf(1.0f, float(-x)) + __fdividef(1.0f, float(x));
  out[n + i] = __longlong_as_double(static_cast<long long>(x) >> 3) + __double2loint(x);
}
