// Atomics of several types, orders and spaces.
extern "C" __global__ void atomics(int* counters, float* sums, unsigned long long* keys) {
  __shared__ int local;
  if (threadIdx.x == 0) local = 0;
  __syncthreads();
  atomicMax(&local, int(threadIdx.x));
  atomicAdd(&sums[blockIdx.x], 1.5f);
  int old = atomicCAS(&counters[0], 0, 1);
  atomicExch(&counters[1], old);
  atomicInc(reinterpret_cast<unsigned*>(&counters[2]), 100);
  atomicMin(&keys[0], static_cast<unsigned long long>(threadIdx.x));
  atomicOr_block(&counters[3], 1 << (threadIdx.x & 31));
  atomicAdd_system(&counters[4], 1);
  __threadfence();
  __threadfence_block();
  __syncthreads();
  if (threadIdx.x == 0) counters[5] = local;
}
