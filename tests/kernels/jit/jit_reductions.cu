// Additions to memory whose results nobody uses.

extern "C" __global__ void scatter(const int* in, int* bins, int count, int size) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < count) atomicAdd(&bins[in[i] % size], i);
}

template <class T>
__device__ void add_all(const int* in, T* out, T unit) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  atomicAdd(&out[i % 3], unit * static_cast<T>(in[i]));
}
extern "C" __global__ void add_floats(const int* in, float* out) { add_all<float>(in, out, 0.25f); }
extern "C" __global__ void add_doubles(const int* in, double* out) { add_all<double>(in, out, 0.25); }
extern "C" __global__ void add_longs(const int* in, unsigned long long* out) {
  add_all<unsigned long long>(in, out, 1ull << 33);
}

// Of two types, one of which comes first.
extern "C" __global__ void add_both(const int* in, int* sum, float* quarter) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  atomicAdd(sum, in[i]);
  atomicAdd(quarter, 0.25f * in[i]);
}

// To more addresses than collect where each is one of the whole launch's.
extern "C" __global__ void add_to_twelve(const int* in, int* sums) {
  const int value = in[blockIdx.x * blockDim.x + threadIdx.x];
#pragma unroll
  for (int k = 0; k < 12; ++k)
    atomicAdd(&sums[k], value + k);
}

// A thread sees what it has added, and what it stores then lies on top of it.
extern "C" __global__ void sees_its_own(int* memory, int* seen) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  atomicAdd(&memory[2 * i], i);
  seen[i] = memory[2 * i];
}
extern "C" __global__ void stores_behind(int* memory) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  atomicAdd(&memory[i], 1000);
  memory[i] = i;
}

// The block's threads see what each has added before they met.
extern "C" __global__ void sees_its_block(int* sums, int* seen) {
  atomicAdd(&sums[blockIdx.x], threadIdx.x);
  __syncthreads();
  if (threadIdx.x == 7) seen[blockIdx.x] = sums[blockIdx.x];
}

// The last block to come sees what all have added.
extern "C" __global__ void last_block_sums(const int* in, int* sum, unsigned* arrived, int* seen) {
  atomicAdd(sum, in[blockIdx.x * blockDim.x + threadIdx.x]);
  __threadfence();
  __syncthreads();
  if (threadIdx.x == 0 && atomicInc(arrived, gridDim.x) == gridDim.x - 1)
    *seen = atomicAdd(sum, 0);
}

// Some lanes of each warp bring what all have.
extern "C" __global__ void some_lanes(const int* in, int* out, int* stored) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  int lane = threadIdx.x % 32;
  int sum = in[i];
  for (int offset = 16; offset > 0; offset /= 2)
    sum += __shfl_xor_sync(~0u, sum, offset);
  if (lane == 0) stored[i / 32] = sum + lane;
  if (lane == 31) atomicAdd(&out[0], sum + lane);
}

// Each thread adds to an address that is its own in all blocks.
extern "C" __global__ void add_to_own(const int* in, int* sums, int count) {
  __shared__ int bins[96];
  const int t = threadIdx.y * blockDim.x + threadIdx.x;
  bins[t] = 0;
  __syncthreads();
  const int i = blockIdx.x * 96 + t;
  if (i < count) atomicAdd(&bins[in[i] % 96], i);
  __syncthreads();
  atomicAdd(&sums[2 * t], bins[t]);
}
extern "C" __global__ void some_add_to_own(const int* in, float* sums, int rounds) {
  const int t = threadIdx.y * blockDim.x + threadIdx.x;
  for (int i = 0; i < rounds; ++i) {
    const int value = in[(blockIdx.x * 7 + i) % 20 * 96 + t];
    if (t % 3 == blockIdx.x % 3 && t != 5) atomicAdd(&sums[95 - t], 0.25f * value);
  }
}
// What is added may be no more than a sign.
extern "C" __global__ void add_signs(float* sums) { atomicAdd(&sums[threadIdx.x], -0.0f); }
// Two addresses, or one that depends on the block, have no place for each thread.
extern "C" __global__ void add_to_two(int* sums) {
  const int t = threadIdx.x;
  atomicAdd(&sums[t], 1);
  atomicAdd(&sums[blockDim.x + t], blockIdx.x);
}
extern "C" __global__ void add_to_blocks(int* sums) {
  atomicAdd(&sums[threadIdx.x + blockIdx.x], 1);
}
