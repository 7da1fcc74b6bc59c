// Half and bfloat16 numbers, alone and in pairs.
#include <cuda_bf16.h>
#include <cuda_fp16.h>

extern "C" __global__ void half_precision(const half2* in, half2* out, __nv_bfloat16* brain,
                                          float scale) {
  int i = threadIdx.x;
  half2 value = __hfma2(in[i], in[i + 1], __float2half2_rn(scale));
  out[i] = __hmax2(value, __hneg2(in[i]));
  brain[i] = __float2bfloat16(__low2float(value) + __high2float(value));
  if (__hgt(__low2half(value), __float2half(1.0f))) out[i] = h2exp(value);
}
