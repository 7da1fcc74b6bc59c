// One block of a gather leaves its buffer, as no CUDA program may: what it reads lies in the buffer
// of another argument, where the kernel only writes.
#include <cuda_runtime.h>

#include <vector>

extern "C" __global__ void gather(const long long* index, const float* in, float* out) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  out[i] = in[index[i]];
}

int main() {
  constexpr int blocks = 4, threads = 8, count = blocks * threads;
  float *in = nullptr, *out = nullptr;
  long long* device_index = nullptr;
  if (cudaMalloc(&in, count * sizeof(float)) != cudaSuccess ||
      cudaMalloc(&out, count * sizeof(float)) != cudaSuccess ||
      cudaMalloc(&device_index, count * sizeof(long long)) != cudaSuccess) {
    return 1;
  }
  std::vector<long long> index(count);
  for (int i = 0; i < count; ++i) index[i] = count - 1 - i;
  // The first thread of block 2 reads the fourth element of `out`.
  index[2 * threads] = (out - in) + 3;
  cudaMemcpy(device_index, index.data(), count * sizeof(long long), cudaMemcpyHostToDevice);
  gather<<<blocks, threads>>>(device_index, in, out);
  return cudaDeviceSynchronize() == cudaSuccess ? 0 : 1;
}
