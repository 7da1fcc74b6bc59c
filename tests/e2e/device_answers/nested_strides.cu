// out[n] = in[n] + 1 for every n, by strided loops inside loops that threads leave at different
// times, written in six ways. Arguments: the way, the inner stride, how many such strides there are
// to do, the block's threads, and the outer rounds of the ways that count them. Prints how many
// elements are wrong.
#include <cstdio>
#include <cstdlib>

__global__ void by_rounds(const float* in, float* out, int stride, int count, int rounds) {
  for (int round = 0; round < rounds; ++round)
    for (int n = threadIdx.x; n < count; n += stride)
      out[n] = in[n] + 1;
}

__global__ void by_columns(const float* in, float* out, int stride, int count, int) {
  for (int i = threadIdx.x; i < stride; i += blockDim.x)
    for (int n = i; n < count; n += stride)
      out[n] = in[n] + 1;
}

__global__ void at_least_once(const float* in, float* out, int stride, int count, int) {
  for (int i = threadIdx.x; i < stride; i += blockDim.x) {
    int n = i;
    do {
      out[n] = in[n] + 1;
      n += stride;
    } while (n < count);
  }
}

__global__ void by_128_columns(const float* in, float* out, int stride, int count, int) {
  for (int i = threadIdx.x; i < stride; i += 128)
    for (int n = i; n < count; n += stride)
      out[n] = in[n] + 1;
}

__global__ void from_the_start(const float* in, float* out, int stride, int count, int rounds) {
  for (int i = threadIdx.x; i < rounds; i += blockDim.x)
    for (int n = threadIdx.x; n < count; n += stride)
      out[n] = in[n] + 1;
}

__global__ void by_counted_columns(const float* in, float* out, int stride, int count, int rounds) {
  int i = threadIdx.x;
  for (int round = 0; round < rounds; ++round, i += blockDim.x)
    for (int n = i; n < count; n += stride)
      out[n] = in[n] + 1;
}

int main(int argc, char** argv) {
  using Kernel = void(const float*, float*, int, int, int);
  Kernel* const kernels[] = {by_rounds,      by_columns,     at_least_once,
                             by_128_columns, from_the_start, by_counted_columns};
  if (argc != 6) return 2;
  int numbers[5];
  for (int i = 0; i < 5; ++i)
    numbers[i] = std::atoi(argv[i + 1]);
  const auto [way, stride, rows, threads, rounds] = numbers;
  const int count = stride * rows;
  float *in = nullptr, *out = nullptr;
  cudaMallocManaged(&in, count * sizeof(float));
  cudaMallocManaged(&out, count * sizeof(float));
  for (int i = 0; i < count; ++i) {
    in[i] = static_cast<float>(i);
    out[i] = -1;
  }
  kernels[way]<<<1, threads>>>(in, out, stride, count, rounds);
  const cudaError_t error = cudaDeviceSynchronize();
  int wrong = 0;
  for (int i = 0; i < count; ++i)
    wrong += out[i] != static_cast<float>(i) + 1 ? 1 : 0;
  std::printf("%s, %d of %d wrong\n", cudaGetErrorName(error), wrong, count);
  return 0;
}
