// Kernels that hand each other values through variables of their module, which the host writes and
// reads by name, and through one that they know by its address alone.
#include <cstdio>

constexpr int blocks = 8, threads = 64, count = blocks * threads;

__device__ float table[count];
__device__ int total;
__device__ float sums[count];

__global__ void produce(float add) {
  const int i = int(blockIdx.x * blockDim.x + threadIdx.x);
  table[i] = table[i] * 2 + add;
}

__global__ void consume(float* out) {
  const int i = int(blockIdx.x * blockDim.x + threadIdx.x);
  out[i] = table[i];
  // Where sin() has its coefficients from, the compiler's own table, is no buffer.
  if (table[i] > 100 || sin(double(table[i])) > 2) atomicAdd(&total, 1);
}

__global__ void add(const float* values, float* to) {
  const int i = int(blockIdx.x * blockDim.x + threadIdx.x);
  to[i] += values[i];
}

int main() {
  static float host[count];
  float* out = nullptr;
  if (cudaMalloc(&out, sizeof host) != cudaSuccess) return 1;
  int failures = 0;
  float* pointed = nullptr;
  cudaGetSymbolAddress(reinterpret_cast<void**>(&pointed), sums);
  static float expected_sums[count];
  for (int round = 0; round < 3; ++round) {
    for (int i = 0; i < count; ++i) host[i] = float(i % 50 + round);
    const int none = 0;
    cudaMemcpyToSymbol(table, host, sizeof host);
    cudaMemcpyToSymbol(total, &none, sizeof none);
    for (int step = 0; step < 4; ++step) {
      produce<<<blocks, threads>>>(float(step));
      consume<<<blocks, threads>>>(out);
      add<<<blocks, threads>>>(out, pointed);
    }
    int expected_total = 0, counted = 0;
    static float result[count];
    cudaMemcpy(result, out, sizeof result, cudaMemcpyDeviceToHost);
    cudaMemcpyFromSymbol(&counted, total, sizeof counted);
    for (int i = 0; i < count; ++i) {
      float value = host[i];
      for (int step = 0; step < 4; ++step) {
        value = value * 2 + float(step);
        if (value > 100) ++expected_total;
        expected_sums[i] += value;
      }
      if (result[i] != value) ++failures;
    }
    if (counted != expected_total) ++failures;
  }
  static float summed[count];
  cudaMemcpyFromSymbol(summed, sums, sizeof summed);
  for (int i = 0; i < count; ++i)
    if (summed[i] != expected_sums[i]) ++failures;
  cudaFree(out);
  std::printf("%s module_variables\n", failures == 0 ? "PASS" : "FAIL");
  return failures == 0 ? 0 : 1;
}
