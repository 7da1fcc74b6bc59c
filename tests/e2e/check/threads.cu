// Threads of one block that touch the same bytes with nothing between, and their right twins.
#include "seeded.hpp"

template <bool is_right>
__global__ void reverse(float* a, int n) {
  __shared__ float kept[200];
  int i = threadIdx.x;
  if (i < n) kept[i] = a[i];  // reverse
  if (is_right) __syncthreads();
  if (i < n) a[i] = kept[n - 1 - i];
}

static void missing_barrier(bool is_right) {
  float* a = zeros<float>(190);
  is_right ? reverse<true><<<1, 200>>>(a, 190) : reverse<false><<<1, 200>>>(a, 190);
}

// The barrier at the end of a round is missing: the next round writes what some still read.
template <bool is_right>
__global__ void dot_rows(float* sums, const float* a, int width) {
  __shared__ float tile[96];
  float sum = 0;
  for (int begin = 0; begin < width; begin += 96) {
    int x = begin + threadIdx.x;
    tile[threadIdx.x] = x < width ? a[x] : 0;  // tiled-loop
    __syncthreads();
    for (int j = 0; j < 96; ++j)
      sum += tile[j] * (j + 1);
    if (is_right) __syncthreads();
  }
  sums[blockIdx.x * blockDim.x + threadIdx.x] = sum;
}

static void tiled_loop(bool is_right) {
  float *sums = zeros<float>(96 * 3), *a = zeros<float>(300);
  is_right ? dot_rows<true><<<3, 96>>>(sums, a, 300) : dot_rows<false><<<3, 96>>>(sums, a, 300);
}

// A tree of sums whose last steps rely on the warp being in step.
template <bool is_right>
__global__ void sum_block(int* sums, const int* a, int n) {
  __shared__ volatile int part[128];
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  part[threadIdx.x] = i < n ? a[i] : 0;
  __syncthreads();
  if (threadIdx.x < 64) part[threadIdx.x] += part[threadIdx.x + 64];
  __syncthreads();
  if (threadIdx.x < 32) {
    for (int step = 32; step > 0; step /= 2) {
      int other = part[threadIdx.x + step];
      if (is_right) __syncwarp();
      part[threadIdx.x] += other;  // old-reduction
      if (is_right) __syncwarp();
    }
  }
  if (threadIdx.x == 0) sums[blockIdx.x] = part[0];
}

static void old_reduction(bool is_right) {
  int *sums = zeros<int>(5), *a = zeros<int>(600);
  is_right ? sum_block<true><<<5, 128>>>(sums, a, 600) : sum_block<false><<<5, 128>>>(sums, a, 600);
}

// Words that several threads count up, by an index that is data.
template <bool is_right>
__global__ void count(int* counts, const unsigned char* values, int n) {
  __shared__ int bins[16];
  if (threadIdx.x < 16) bins[threadIdx.x] = 0;
  __syncthreads();
  for (int i = threadIdx.x; i < n; i += blockDim.x) {
    if (is_right) {
      atomicAdd(&bins[values[i] % 16], 1);
    } else {
      bins[values[i] % 16] += 1;  // histogram
    }
  }
  __syncthreads();
  if (threadIdx.x < 16) counts[threadIdx.x] = bins[threadIdx.x];
}

static void histogram(bool is_right) {
  int* counts = zeros<int>(16);
  unsigned char* values = zeros<unsigned char>(333);
  is_right ? count<true><<<1, 70>>>(counts, values, 333)
           : count<false><<<1, 70>>>(counts, values, 333);
}

// In global memory, between threads of one block.
template <bool is_right>
__global__ void shift(int* a, int n) {
  int i = threadIdx.x;
  if (i + 1 >= n) return;
  int next = a[i + 1];
  if (is_right) __syncthreads();
  a[i] = next + 1;  // in-place-shift
}

static void in_place_shift(bool is_right) {
  int* a = zeros<int>(150);
  is_right ? shift<true><<<1, 160>>>(a, 150) : shift<false><<<1, 160>>>(a, 150);
}

// A barrier of half the block, where the other half reads too.
template <bool is_right>
__global__ void hand_over(int* out) {
  __shared__ int kept[64];
  if (threadIdx.x < 64) kept[threadIdx.x] = threadIdx.x;  // half-a-barrier
  if (is_right) {
    asm volatile("bar.sync 1, 128;" ::: "memory");
  } else if (threadIdx.x < 64) {
    asm volatile("bar.sync 1, 64;" ::: "memory");
  }
  out[threadIdx.x] = kept[63 - threadIdx.x % 64];
}

static void half_a_barrier(bool is_right) {
  int* out = zeros<int>(128);
  is_right ? hand_over<true><<<1, 128>>>(out) : hand_over<false><<<1, 128>>>(out);
}

// A mask that leaves out lanes which read.
template <bool is_right>
__global__ void half_mask(int* out) {
  __shared__ int kept[32];
  int lane = threadIdx.x;
  kept[lane] = lane * lane;  // half-a-mask
  if (is_right) {
    __syncwarp();
  } else if (lane < 16) {
    __syncwarp(0xffff);
  }
  out[lane] = kept[31 - lane];
}

static void half_a_mask(bool is_right) {
  int* out = zeros<int>(32);
  is_right ? half_mask<true><<<1, 32>>>(out) : half_mask<false><<<1, 32>>>(out);
}

// Who comes last reads what the others wrote: only a fence orders that.
template <bool is_right>
__global__ void last_one(int* out) {
  __shared__ int kept[100], arrived;
  if (threadIdx.x == 0) arrived = 0;
  __syncthreads();
  kept[threadIdx.x] = threadIdx.x;  // missing-fence
  if (is_right) __threadfence_block();
  bool is_last = atomicAdd(&arrived, 1) == 99;
  if (!is_last) return;
  int sum = 0;
  for (int i = 0; i < 100; ++i)
    sum += kept[i];
  *out = sum;
}

static void missing_fence(bool is_right) {
  int* out = zeros<int>(1);
  is_right ? last_one<true><<<1, 100>>>(out) : last_one<false><<<1, 100>>>(out);
}

// One byte for each thread: neighbours share a word and nothing else.
template <bool is_right>
__global__ void mark(char* marks, const int* order, int n) {
  __shared__ char seen[130];
  int i = threadIdx.x;
  seen[i] = 0;
  __syncthreads();
  if (i < n) seen[is_right ? order[i] : order[i] / 2] = static_cast<char>(i + 1);  // bytes
  __syncthreads();
  if (i < n) marks[i] = seen[i];
}

static void bytes(bool is_right) {
  int order[130], *there = device_array<int>(130);
  for (int i = 0; i < 130; ++i)
    order[i] = 129 - i;
  cudaMemcpy(there, order, sizeof order, cudaMemcpyHostToDevice);
  char* marks = zeros<char>(130);
  is_right ? mark<true><<<1, 130>>>(marks, there, 125) : mark<false><<<1, 130>>>(marks, there, 125);
}

// All threads that find something set the same flag: right either way.
__global__ void any_above(int* found, const int* a, int n) {
  __shared__ int is_found;
  if (threadIdx.x == 0) is_found = 0;
  __syncthreads();
  if (threadIdx.x < n && a[threadIdx.x] >= 0) is_found = 1;
  __syncthreads();
  if (threadIdx.x == 0) *found = is_found;
}

static void same_flag(bool) {
  int *found = zeros<int>(1), *a = zeros<int>(100);
  any_above<<<1, 128>>>(found, a, 100);
}

// Lanes hand on a turn in one word, which each writes when it is its own: right either way.
__global__ void in_turn(int* out) {
  __shared__ volatile int turn;
  if (threadIdx.x == 0) turn = 0;
  __syncthreads();
  while (turn != threadIdx.x) {
  }
  out[threadIdx.x] = 1;
  turn = threadIdx.x + 1;
}

static void turns(bool) { in_turn<<<2, 40>>>(zeros<int>(40)); }

int main(int argc, char** argv) {
  constexpr SeededCase cases[] = {
      {"missing-barrier", missing_barrier},
      {"tiled-loop", tiled_loop},
      {"old-reduction", old_reduction},
      {"histogram", histogram},
      {"in-place-shift", in_place_shift},
      {"half-a-barrier", half_a_barrier},
      {"half-a-mask", half_a_mask},
      {"missing-fence", missing_fence},
      {"bytes", bytes},
      {"same-flag", same_flag},
      {"turns", turns},
  };
  return run_case(cases, argc, argv);
}
