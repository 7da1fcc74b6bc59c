// A kernel that accesses memory that is not there, and what the program is told of it. The argument
// says which: "null", "beyond" an allocation (by an index from memory), "freed", "cooperative", or
// "own": after that, the program itself does, with a handler of its own.
#include <cooperative_groups.h>
#include <signal.h>
#include <unistd.h>

#include <cstdio>
#include <cstring>

__global__ void write_at(int *place, int value) { place[threadIdx.x] = value; }

__global__ void read_at(const int *numbers, const int *index, int *found) {
  found[threadIdx.x] = numbers[index[threadIdx.x]];
}

__global__ void write_and_meet(int *place) {
  if (blockIdx.x == 1) *place = 1;
  cooperative_groups::this_grid().sync();
}

static void on_signal(int) {
  write(1, "handled\n", 8);
  _exit(0);
}

int main(int, char **arguments) {
  const char *what = arguments[1];
  signal(SIGSEGV, on_signal);
  constexpr int threads = 32, count = 1 << 20;
  int *numbers = nullptr, *index = nullptr;
  if (cudaMalloc(&numbers, count * sizeof(int)) != cudaSuccess) return 1;
  if (cudaMalloc(&index, 2 * threads * sizeof(int)) != cudaSuccess) return 1;
  int far[threads];
  for (int i = 0; i < threads; ++i)
    far[i] = i == 7 ? count + 1000 : i;
  cudaMemcpy(index, far, sizeof far, cudaMemcpyHostToDevice);
  int *null = nullptr;
  write_at<<<1, threads>>>(numbers, 1);
  if (std::strcmp(what, "beyond") == 0) {
    read_at<<<1, threads>>>(numbers, index, index + threads);
  } else if (std::strcmp(what, "freed") == 0) {
    int *gone = nullptr;
    cudaMalloc(&gone, count * sizeof(int));
    cudaFree(gone);
    write_at<<<1, threads>>>(gone, 1);
  } else if (std::strcmp(what, "cooperative") == 0) {
    void *parameters[] = {&null};
    cudaLaunchCooperativeKernel((void *)write_and_meet, dim3(2), dim3(1), parameters, 0, nullptr);
  } else {
    write_at<<<4, threads>>>(null, 1);
  }
  std::printf("%s\n", cudaGetErrorName(cudaDeviceSynchronize()));
  std::printf("%s\n", cudaGetErrorName(cudaMemset(numbers, 0, 4)));
  std::fflush(stdout);
  if (std::strcmp(what, "own") == 0) *(volatile int *)null = 1;
  return 0;
}
