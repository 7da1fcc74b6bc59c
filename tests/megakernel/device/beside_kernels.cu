// Kernels whose blocks may run side by side in one worker, by all that a block has for itself:
// threads, lanes of a warp, shared memory, barriers. Element i of `out` is of element i of `in`
// and its block's other elements; behind the elements each block notes which warp began it.
struct Elements {
  const int* in;
  int* out;
  int count;
};

static __device__ int block_number() {
  return static_cast<int>(blockIdx.x + gridDim.x * (blockIdx.y + gridDim.y * blockIdx.z));
}
static __device__ int element() {
  return block_number() * static_cast<int>(blockDim.x) + static_cast<int>(threadIdx.x);
}
static __device__ int value(const Elements& all) {
  return element() < all.count ? all.in[element()] : -1;
}
static __device__ void keep(const Elements& all, int result) {
  if (threadIdx.x == 0) {
    int warp;
    asm volatile("mov.u32 %0, %%warpid;" : "=r"(warp));
    all.out[all.count + block_number()] = warp;
  }
  if (element() < all.count) all.out[element()] = result;
}

extern "C" __global__ void plain(Elements all) {
  keep(all, value(all) * 3 + block_number());
}

// Lanes that a block does not have, or that end, are left out of exchanges.
extern "C" __global__ void exchanges(Elements all) {
  const int sum = value(all) + __shfl_xor_sync(0xffffffffU, value(all), 1);
  keep(all, sum);
  if (value(all) % 3 == 0) return;
  const unsigned odd = __ballot_sync(0xffffffffU, value(all) & 1);
  if (element() < all.count) all.out[element()] = sum * 100 + __popc(odd);
}

// Static and dynamic shared memory, by name and by address, as aligned as it is declared, and what
// a block before left in it.
extern "C" __global__ void shared_memory(Elements all) {
  __shared__ __align__(128) int row[128];
  __shared__ double sums[4];
  extern __shared__ int reversed[];
  const unsigned last = blockDim.x - 1;
  row[threadIdx.x] = value(all);
  reversed[last - threadIdx.x] = value(all);
  if (threadIdx.x < 4) sums[threadIdx.x] = 0.5 * threadIdx.x;
  __syncthreads();
  const int* from = threadIdx.x % 2 == 0 ? row : reversed;
  auto beyond = static_cast<unsigned>(__cvta_generic_to_shared(row));
  asm volatile("" : "+r"(beyond));  // or the compiler would know
  const int found = static_cast<int>(beyond % 128) + row[last - threadIdx.x] +
                    7 * reversed[threadIdx.x ^ 1] + from[threadIdx.x / 2] +
                    static_cast<int>(sums[threadIdx.x % 4] * 2);
  __syncthreads();
  atomicAdd(&row[0], reversed[threadIdx.x]);
  __syncthreads();
  keep(all, found * 1000 + row[0]);
}

// Shared memory of a warp, without a barrier of the block.
extern "C" __global__ void shared_by_warps(Elements all) {
  __shared__ volatile int row[128];
  row[threadIdx.x] = value(all);
  __syncwarp();
  keep(all, row[threadIdx.x / 32 * 32 + (threadIdx.x + 5) % 32]);
}

// Barriers by number, which count, or which reduce, and warps that come to them by turns.
extern "C" __global__ void barriers(Elements all) {
  __shared__ int row[128];
  const int even = __syncthreads_count(value(all) % 2 == 0);
  row[threadIdx.x] = value(all) + even;
  if (threadIdx.x < 32) {
    asm volatile("bar.arrive 1, %0;" ::"r"(blockDim.x) : "memory");
  } else {
    asm volatile("bar.sync 1, %0;" ::"r"(blockDim.x) : "memory");
  }
  const int seen = threadIdx.x < 32 ? 0 : row[threadIdx.x - 32];
  asm volatile("barrier.sync 0;" ::: "memory");
  row[threadIdx.x] = seen;
  asm volatile("bar.sync 1;" ::: "memory");
  keep(all, row[(threadIdx.x + 17) % blockDim.x] * 2 + __syncthreads_or(value(all) > 97));
}

// A called function has shared memory and barriers of its block's.
static __device__ __noinline__ int turned(int mine) {
  __shared__ int row[128];
  row[threadIdx.x] = mine;
  __syncthreads();
  const int other = row[(threadIdx.x + 1) % blockDim.x];
  __syncthreads();
  return other;
}
extern "C" __global__ void calls(Elements all) {
  keep(all, turned(turned(value(all))) + 1);
}

// Threads of three extents.
extern "C" __global__ void in_space(Elements all) {
  const unsigned thread = threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z);
  const unsigned threads = blockDim.x * blockDim.y * blockDim.z;
  const int i = static_cast<int>(block_number() * threads + thread);
  if (thread == 0) {
    int warp;
    asm volatile("mov.u32 %0, %%warpid;" : "=r"(warp));
    all.out[all.count + block_number()] = warp;
  }
  if (i >= all.count) return;
  all.out[i] =
      all.in[i] + 10 * static_cast<int>(threadIdx.x + 10 * threadIdx.y + 100 * threadIdx.z);
}

// These run one at a time: a look at another block's word, and threads that end before a barrier.
extern "C" __global__ void looks_at_others(Elements all) {
  keep(all, value(all) + *static_cast<const volatile int*>(all.in));
}
extern "C" __global__ void ends_early(Elements all) {
  __shared__ int row[128];
  row[threadIdx.x] = value(all);
  if (value(all) % 5 == 0) return;
  __syncthreads();
  keep(all, row[0]);
}

// As wide as the workers are.
extern "C" __global__ void wide(Elements all) {
  keep(all, value(all) + 1);
}
