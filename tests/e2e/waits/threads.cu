// Threads of one block that wait for each other without a barrier: lanes at a lock, in two forms,
// warps by a flag in shared memory, all threads of a grid by a word that goes from the last one to
// the first.
#include "waits.hpp"

__global__ void lock_and_try(int* lock, volatile int* count) {
  bool done = false;
  while (!done) {
    if (atomicCAS(lock, 0, 1) == 0) {
      *count = *count + 1;
      __threadfence();
      atomicExch(lock, 0);
      done = true;
    }
  }
}

__global__ void lock_and_spin(int* lock, volatile int* count) {
  while (atomicCAS(lock, 0, 1) != 0) {
  }
  *count = *count + 1;
  __threadfence();
  atomicExch(lock, 0);
}

__global__ void look_then_lock(int* lock, volatile int* count) {
  for (;;) {
    const int seen = *(volatile int*)lock;
    if (seen == 1) continue;
    if (atomicCAS(lock, seen, 1) == seen) break;
  }
  *count = *count + 1;
  __threadfence();
  *(volatile int*)lock = 0;
}

__global__ void flag_of_a_warp(int* out) {
  __shared__ volatile int flag;
  __shared__ volatile int value;
  if (threadIdx.x == 0) flag = 0;
  __syncthreads();
  if (threadIdx.x < 32) {
    while (flag == 0) {
    }
    out[blockIdx.x * 32 + threadIdx.x] = value;
  } else if (threadIdx.x == blockDim.x - 1) {
    value = 42 + blockIdx.x;
    __threadfence_block();
    flag = 1;
  }
}

__global__ void hand_on(volatile int* turn, int* order) {
  const int last = gridDim.x * blockDim.x - 1;
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  bool missing;
  do {
    missing = *turn != i;
  } while (missing);
  order[last - i] = i;
  __threadfence();
  *turn = i - 1;
}

static int wrong_counts(void (*kernel)(int*, volatile int*), int blocks, int threads) {
  DeviceArray<int> lock(1, 0), count(1, 0);
  kernel<<<blocks, threads>>>(lock.data(), count.data());
  return count.host()[0] != blocks * threads;
}

int main() {
  int wrong = 0;
  for (const auto kernel : {lock_and_try, lock_and_spin, look_then_lock}) {
    wrong += wrong_counts(kernel, 1, 32);
    wrong += wrong_counts(kernel, 1, 100);
    wrong += wrong_counts(kernel, 12, 96);
  }
  const int blocks = most_blocks(flag_of_a_warp, 128);
  DeviceArray<int> out(32 * blocks, 0);
  flag_of_a_warp<<<blocks, 128>>>(out.data());
  const std::vector<int> flags = out.host();
  for (int i = 0; i < 32 * blocks; ++i)
    wrong += flags[i] != 42 + i / 32;

  const int most = most_blocks(hand_on, 64);
  DeviceArray<int> turn(1, 64 * most - 1), order(64 * most, -1);
  hand_on<<<most, 64>>>(turn.data(), order.data());
  const std::vector<int> orders = order.host();
  for (int i = 0; i < 64 * most; ++i)
    wrong += orders[i] != 64 * most - 1 - i;
  return finish(wrong);
}
