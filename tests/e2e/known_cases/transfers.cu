// Copies and memsets in the places of kernels: 4 blocks of 6 KiB against 6 pieces of 4 KiB, as in
// case 3; events among them change nothing.
#include "sample.hpp"

__global__ void produce(float* x, int each) {
  for (int i = threadIdx.x; i < each; i += blockDim.x)
    x[blockIdx.x * each + i] = static_cast<float>(blockIdx.x * each + i);
}

__global__ void consume(const float* x, float* out, int each) {
  for (int i = threadIdx.x; i < each; i += blockDim.x)
    out[blockIdx.x * each + i] = 2.0f * x[blockIdx.x * each + i];
}

int main(int argc, char** argv) {
  sample::parse_options("transfers", argc, argv, {});
  constexpr int blocks = 4, block = 64, each = 1536, count = blocks * each;
  constexpr size_t bytes = count * sizeof(float), row = 4096;
  float* a = sample::allocate(count);
  float* b = nullptr;  // of a pool
  cudaMemPool_t pool;
  if (cudaDeviceGetDefaultMemPool(&pool, 0) != cudaSuccess ||
      cudaMallocFromPoolAsync(&b, bytes, pool, nullptr) != cudaSuccess) {
    return 1;
  }
  float* c = sample::allocate(count);
  cudaEvent_t events[2];
  for (cudaEvent_t& event : events)
    cudaEventCreate(&event);

  sample::Stopwatch watch;
  produce<<<blocks, block>>>(a, each);
  cudaEventRecord(events[0]);
  cudaMemcpyAsync(b, a, bytes, cudaMemcpyDeviceToDevice);
  consume<<<blocks, block>>>(b, c, each);
  cudaEventRecord(events[1]);
  cudaMemsetAsync(b, 0, bytes);
  cudaMemcpyAsync(a, b, bytes, cudaMemcpyDefault);
  // The first half of each row.
  cudaMemcpy2DAsync(c, row, a, row, row / 2, bytes / row, cudaMemcpyDeviceToDevice);
  cudaEventSynchronize(events[1]);
  float milliseconds = -1;
  cudaEventElapsedTime(&milliseconds, events[0], events[1]);
  const double seconds = watch.seconds();
  if (milliseconds < 0) return 1;

  std::vector<float> expected(count);
  for (int i = 0; i < count; ++i)
    expected[i] = i % 1024 < 512 ? 0.0f : 2.0f * static_cast<float>(i);
  return sample::report(sample::shape_text("blocks", blocks), sample::download(c, count), expected,
                        seconds);
}
