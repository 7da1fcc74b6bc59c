// Device and constant variables by their host symbols.
#include <cuda_runtime.h>

#include "check.hpp"

__device__ int counters[8] = {1, 2, 3, 4, 5, 6, 7, 8};
__constant__ int factor = 3;

__global__ void scale() {
  counters[threadIdx.x] *= factor;
}

int main() {
  int host[8] = {};
  size_t size = 0;
  void* address = nullptr;
  CHECK(cudaGetSymbolSize(&size, counters));
  EXPECT(size == sizeof host);
  CHECK(cudaGetSymbolAddress(&address, counters));

  scale<<<1, 8>>>();
  CHECK(cudaMemcpyFromSymbol(host, counters, sizeof host));
  for (int i = 0; i < 8; ++i)
    EXPECT(host[i] == 3 * (i + 1));

  const int five = 5;
  CHECK(cudaMemcpyToSymbol(factor, &five, sizeof five));
  CHECK(cudaMemcpyToSymbol(counters, &five, sizeof five, 4 * sizeof(int)));
  scale<<<1, 8>>>();
  CHECK(cudaMemcpy(host, address, sizeof host, cudaMemcpyDeviceToHost));
  for (int i = 0; i < 8; ++i)
    EXPECT(host[i] == (i == 4 ? 25 : 15 * (i + 1)));

  EXPECT(cudaMemcpyToSymbol(counters, &five, sizeof five, 8 * sizeof(int)) ==
         cudaErrorInvalidValue);
  EXPECT(cudaGetSymbolAddress(&address, host) == cudaErrorInvalidSymbol);
  EXPECT(cudaGetLastError() == cudaErrorInvalidSymbol);
  std::printf("ok\n");
  return 0;
}
