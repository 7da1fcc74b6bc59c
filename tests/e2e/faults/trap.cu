// Ends a thread of its third launch by a trap, and prints what the program is told of it.
#include <cstdio>

__global__ void count_up(int *numbers, int last) {
  const int i = int(blockIdx.x * blockDim.x + threadIdx.x);
  if (i == last) asm volatile("trap;");
  numbers[i] += 1;
}

int main() {
  constexpr int threads = 64, blocks = 4;
  int *numbers = nullptr;
  if (cudaMalloc(&numbers, threads * blocks * sizeof(int)) != cudaSuccess) return 1;
  cudaMemset(numbers, 0, threads * blocks * sizeof(int));
  for (int launch = 0; launch < 4; ++launch)
    count_up<<<blocks, threads>>>(numbers, launch == 2 ? 100 : -1);
  std::printf("%s\n", cudaGetErrorName(cudaDeviceSynchronize()));
  std::printf("%s\n", cudaGetErrorName(cudaMemset(numbers, 0, 4)));
  return 0;
}
