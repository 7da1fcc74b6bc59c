// A barrier of all blocks made of an atomic counter, between the steps of a sum to the left.
#include "waits.hpp"

__device__ unsigned load_acquire(const unsigned* word) {
  unsigned value;
  asm volatile("ld.acquire.gpu.global.u32 %0, [%1];" : "=r"(value) : "l"(word) : "memory");
  return value;
}

enum Form { by_volatile, by_acquire, by_atomic };

template <Form form>
__device__ void meet(unsigned* arrived, unsigned goal) {
  __syncthreads();
  if (threadIdx.x == 0) {
    __threadfence();
    atomicAdd(arrived, 1);
    if (form == by_volatile) {
      while (*(volatile unsigned*)arrived < goal) {
      }
    } else if (form == by_acquire) {
      while (load_acquire(arrived) < goal) {
      }
    } else {
      while (atomicOr(arrived, 0) < goal) {
      }
    }
    __threadfence();
  }
  __syncthreads();
}

template <Form form>
__global__ void prefix_sums(unsigned* sums, unsigned* other, unsigned* arrived, int count) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  unsigned goal = 0;
  for (int reach = 1; reach < count; reach *= 2) {
    other[i] = sums[i] + (i >= reach ? sums[i - reach] : 0);
    meet<form>(arrived, goal += gridDim.x);
    sums[i] = other[i];
    meet<form>(arrived, goal += gridDim.x);
  }
}

template <Form form>
static int wrong_sums(int threads) {
  const int blocks = most_blocks(prefix_sums<form>, threads);
  const int count = blocks * threads;
  DeviceArray<unsigned> sums(count, 1), other(count, 0), arrived(1, 0);
  prefix_sums<form><<<blocks, threads>>>(sums.data(), other.data(), arrived.data(), count);
  const std::vector<unsigned> found = sums.host();
  int wrong = 0;
  for (int i = 0; i < count; ++i)
    wrong += found[i] != i + 1U;
  return wrong;
}

int main() {
  int wrong = 0;
  for (const int threads : {1, 64, 1024}) {
    wrong += wrong_sums<by_volatile>(threads);
    wrong += wrong_sums<by_acquire>(threads);
    wrong += wrong_sums<by_atomic>(threads);
  }
  return finish(wrong);
}
