// Calls that fail while nobody asks, and their right twins.
#include <vector>

#include "seeded.hpp"

__global__ void fill(float* a, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) a[i] = i;
}

static void too_many_threads(bool is_right) {
  fill<<<1, is_right ? 500 : 2000>>>(device_array<float>(500), 500);
}

static void no_blocks(bool is_right) {
  int count = is_right ? 10 : 0;
  fill<<<blocks_for(count, 32), 32>>>(device_array<float>(10), count);
}

static void too_much_shared(bool is_right) {
  fill<<<1, 32, is_right ? 1 << 10 : 1 << 20>>>(device_array<float>(32), 32);
}

// The result of the copy is thrown away: too long for the buffer.
static void long_copy(bool is_right) {
  std::vector<float> host(200);
  cudaMemcpy(device_array<float>(100), host.data(), (is_right ? 100 : 200) * sizeof(float),
             cudaMemcpyHostToDevice);
}

__device__ float weights[20];

static void long_symbol(bool is_right) {
  float host[40] = {};
  cudaMemcpyToSymbol(weights, host, is_right ? sizeof weights : sizeof host);
}

static void long_memset(bool is_right) {
  cudaMemset(device_array<char>(99), 0, is_right ? 99 : 100000);
}

static void freed_on_the_host(bool is_right) {
  float* a = is_right ? device_array<float>(8) : new float[8];
  cudaFree(a);
}

static void no_stream(bool is_right) {
  cudaStream_t stream;
  cudaStreamCreate(&stream);
  if (!is_right) cudaStreamDestroy(stream);
  cudaStreamSynchronize(stream);
}

__global__ void null_access(int* a) {
  *a = 1;
}

// The launch itself succeeds; only who waits for it would hear.
static void lost_fault(bool is_right) {
  null_access<<<1, 1>>>(is_right ? device_array<int>(1) : nullptr);
  cudaDeviceSynchronize();
}

static cudaError_t clear(char* a, size_t bytes) {
  return cudaMemset(a, 0, bytes);
}

// A function of the program's own hands the result on, and nobody takes it.
static void lost_on_the_way(bool is_right) {
  clear(device_array<char>(70), is_right ? 70 : 100000);
}

static void not_registered(bool is_right) {
  char memory[50];
  if (is_right) cudaHostRegister(memory, sizeof memory, cudaHostRegisterDefault);
  cudaHostUnregister(memory);
}

// Who looks at what a call returns, by any way, knows: right.
static void looked_at(bool) {
  if (cudaMemset(device_array<char>(9), 0, 100000) != cudaSuccess) std::puts("refused");
  if (clear(device_array<char>(7), 100000) != cudaSuccess) std::puts("refused too");
  int on_the_host = 0;
  const cudaError_t error = cudaFree(&on_the_host);
  std::printf("and %d\n", error);
}

// Who asks, by any way, knows: right.
static void asked(bool) {
  fill<<<1, 2000>>>(device_array<float>(1), 1);
  if (cudaPeekAtLastError() != cudaSuccess) std::puts("refused");
  cudaGetLastError();
  const cudaError_t error = cudaMemset(device_array<char>(9), 0, 100000);
  std::puts(cudaGetErrorName(error));
  cudaGetLastError();
}

// No call says whether memory can be had but the one that tries.
static void tried(bool) {
  float* a = nullptr;
  if (cudaMalloc(&a, size_t{1} << 60) != cudaSuccess) cudaMalloc(&a, 100);
  fill<<<1, 25>>>(a, 25);
}

int main(int argc, char** argv) {
  constexpr SeededCase cases[] = {
      {"too-many-threads", too_many_threads},
      {"no-blocks", no_blocks},
      {"too-much-shared", too_much_shared},
      {"long-copy", long_copy},
      {"long-symbol", long_symbol},
      {"long-memset", long_memset},
      {"freed-on-the-host", freed_on_the_host},
      {"no-stream", no_stream},
      {"lost-fault", lost_fault},
      {"lost-on-the-way", lost_on_the_way},
      {"not-registered", not_registered},
      {"looked-at", looked_at},
      {"asked", asked},
      {"tried", tried},
  };
  for (const SeededCase& one : cases) {
    if (argc != 3 || std::strcmp(argv[1], one.name) != 0) continue;
    one.run(std::strcmp(argv[2], "right") == 0);
    std::puts("no error");
    return 0;
  }
  return 2;
}
