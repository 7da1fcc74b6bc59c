// printf and assert on the device.
#include <cassert>
#include <cstdio>

extern "C" __global__ void print_format(const float* in, int n) {
  assert(n > 0);
  if (threadIdx.x < n) printf("%d: %f \"%s\"\n", threadIdx.x, in[threadIdx.x], "quoted\\text");
}
