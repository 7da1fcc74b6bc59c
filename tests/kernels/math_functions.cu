// CUDA's own mathematical functions, as nvcc inlines them. One thread: the first two elements are
// the arguments, each element from there on is a result.

extern "C" __global__ void float_functions(float* memory) {
  const float x = memory[0];
  const float y = memory[1];
  float* out = memory + 2;
  *out++ = expf(x);
  *out++ = exp2f(x);
  *out++ = expm1f(x);
  *out++ = logf(fabsf(x));
  *out++ = log2f(fabsf(x));
  *out++ = log1pf(fabsf(x));
  *out++ = sinf(x);
  *out++ = cosf(x);
  *out++ = tanf(x);
  *out++ = atanf(x);
  *out++ = atan2f(x, y);
  *out++ = sinhf(x);
  *out++ = tanhf(x);
  *out++ = powf(fabsf(x), y);
  *out++ = fmodf(x, y);
  *out++ = hypotf(x, y);
  *out++ = cbrtf(x);
  *out++ = erff(x);
  *out++ = tgammaf(fabsf(x));
  *out++ = lgammaf(x);
  *out++ = sqrtf(fabsf(x));
  *out++ = roundf(x);
  *out++ = rintf(x);
  *out++ = x / y;
}

extern "C" __global__ void double_functions(double* memory) {
  const double x = memory[0];
  const double y = memory[1];
  double* out = memory + 2;
  *out++ = exp(x);
  *out++ = exp2(x);
  *out++ = expm1(x);
  *out++ = log(fabs(x));
  *out++ = log2(fabs(x));
  *out++ = log1p(fabs(x));
  *out++ = sin(x);
  *out++ = cos(x);
  *out++ = tan(x);
  *out++ = atan(x);
  *out++ = atan2(x, y);
  *out++ = sinh(x);
  *out++ = tanh(x);
  *out++ = pow(fabs(x), y);
  *out++ = fmod(x, y);
  *out++ = hypot(x, y);
  *out++ = cbrt(x);
  *out++ = erf(x);
  *out++ = tgamma(fabs(x));
  *out++ = lgamma(x);
  *out++ = sqrt(fabs(x));
  *out++ = round(x);
  *out++ = rint(x);
  *out++ = x / y;
}
