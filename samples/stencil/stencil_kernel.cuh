// One step of the 5-point Jacobi stencil. Both programs launch this kernel.
#pragma once

// stencil() writes to each interior cell of the n x n grid `out` the average of that cell of `in`
// and its four neighbours. Cells on the boundary are left as they are. One thread per cell, x
// fastest. The sum is taken in a fixed order and multiplied last, so that no fused multiply-add can
// be formed and the CPU reference gives the same bits.
extern "C" __global__ void stencil(const float* in, float* out, int n) {
  int x = blockIdx.x * blockDim.x + threadIdx.x;
  int y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= 1 && x < n - 1 && y >= 1 && y < n - 1) {
    int i = y * n + x;
    out[i] = 0.2f * (in[i] + in[i - 1] + in[i + 1] + in[i - n] + in[i + n]);
  }
}
