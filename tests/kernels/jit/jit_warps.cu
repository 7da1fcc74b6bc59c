// Shuffles, votes, matches and barriers of a warp.
extern "C" __global__ void block_sum(const int* in, int* out, int n) {
  __shared__ int partial[32];
  int sum = 0;
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
    sum += in[i];
  }
  for (int step = 16; step > 0; step /= 2) sum += __shfl_down_sync(0xffffffff, sum, step);
  if (threadIdx.x % 32 == 0) partial[threadIdx.x / 32] = sum;
  __syncthreads();
  if (threadIdx.x >= 32) return;
  sum = threadIdx.x < (blockDim.x + 31) / 32 ? partial[threadIdx.x] : 0;
  for (int step = 16; step > 0; step /= 2) sum += __shfl_xor_sync(0xffffffff, sum, step);
  if (threadIdx.x == 0) atomicAdd(out, sum);
}

extern "C" __global__ void shuffles(const int* in, int* out, int width) {
  int t = threadIdx.x;
  int value = in[t];
  out[t] = __shfl_sync(0xffffffff, value, t + 5);
  out[64 + t] = __shfl_up_sync(0xffffffff, value, 3);
  out[128 + t] = __shfl_down_sync(0xffffffff, value, 2, 8);
  out[192 + t] = __shfl_xor_sync(0xffffffff, value, 1);
  float real = __shfl_sync(0xffffffff, value * 0.5f, 7, 16);
  double wide = __shfl_sync(0xffffffff, value * 0.25, 9);
  out[256 + t] = int(real * 4 + wide * 8);
}

extern "C" __global__ void votes(const unsigned* in, unsigned* out) {
  int t = threadIdx.x;
  unsigned value = in[t];
  out[t] = __ballot_sync(0xffffffff, value > 3);
  out[64 + t] = __any_sync(0xffffffff, value == 7) + 2 * __all_sync(0xffffffff, value < 8);
  out[128 + t] = __match_any_sync(0xffffffff, value);
  int all = 0;
  out[192 + t] = __match_all_sync(0xffffffff, value & ~7u, &all) + all;
}

// Only part of each warp takes part, and lanes leave a loop at different times.
extern "C" __global__ void partial_warps(const int* in, int* out) {
  int t = threadIdx.x;
  int value = in[t];
  if (t % 32 < 20) {
    unsigned mask = 0x000fffff;
    int sum = 0;
    for (int i = 0; i < 4; ++i) sum += __shfl_sync(mask, value, (t + i) % 20);
    __syncwarp(mask);
    out[t] = sum;
  } else {
    out[t] = -value;
  }
}

// Values pass through shared memory with a barrier of the warp alone.
extern "C" __global__ void warp_barrier(const int* in, int* out) {
  __shared__ int pool[64];
  int t = threadIdx.x;
  pool[t] = in[t];
  if (t < 32) {
    __syncwarp();
    int parity = pool[31 - t] & 1;
    __syncwarp();
    pool[t] += parity;
    __syncwarp();
    out[t] = pool[(t + 1) % 32];
  } else {
    out[t] = pool[t];
  }
}

// Each lane asks for a lane that does not take part.
extern "C" __global__ void absent_source(const int* in, int* out) {
  int t = threadIdx.x;
  if (t < 16) out[t] = __shfl_sync(0xffff, in[t], t + 16);
}

// A warp a row, as softmax and norms are written: warps of rows that there are not end at once, and
// lanes leave the loops over a row at different times.
extern "C" __global__ void row_statistics(const int* in, int* out, int rows, int width) {
  int row = blockIdx.x * (blockDim.x * blockDim.y / 32) +
            (threadIdx.y * blockDim.x + threadIdx.x) / 32;
  int lane = threadIdx.x % 32;
  if (row >= rows) return;
  const int* mine = in + row * width;
  int most = -2147483647;
  for (int i = lane; i < width; i += 32) most = max(most, mine[i]);
  for (int d = 16; d; d /= 2) most = max(most, __shfl_xor_sync(~0u, most, d));
  int sum = 0;
  for (int i = lane; i < width; i += 32) sum += most - mine[i];
  for (int d = 16; d; d /= 2) sum += __shfl_xor_sync(~0u, sum, d);
  for (int i = lane; i < width; i += 32) out[row * width + i] = sum - mine[i] * most;
}

// Sums up to each element: by shuffles in warps, through shared memory between them, tile by tile.
extern "C" __global__ void block_scan(const int* in, int* out, int n) {
  __shared__ int totals[32];
  int t = threadIdx.x, lane = t % 32, warp = t / 32, carry = 0;
  for (int first = 0; first < n; first += blockDim.x) {
    int value = first + t < n ? in[first + t] : 0;
    for (int d = 1; d < 32; d *= 2) {
      int before = __shfl_up_sync(~0u, value, d);
      if (lane >= d) value += before;
    }
    if (lane == 31) totals[warp] = value;
    __syncthreads();
    int all = 0, below = 0;
    for (int w = 0; w < blockDim.x / 32; ++w) {
      if (w < warp) below += totals[w];
      all += totals[w];
    }
    __syncthreads();
    if (__any_sync(~0u, first + t < n) && first + t < n) out[first + t] = carry + below + value;
    carry += all;
  }
}

// Threads leave a loop with a barrier in it, warps of them while others go on.
extern "C" __global__ void strided_rounds(const int* in, int* out, int n, int step) {
  const int thread = static_cast<int>(threadIdx.x);
  int sum = __shfl_xor_sync(~0U, thread, 1);
  for (int i = thread; i < n; i += step) {
    sum = sum * 5 + in[i];
    __syncthreads();
  }
  out[thread] = sum;
}

// Parts of a thread's number that tell its warp, its lane, or some of both.
extern "C" __global__ void parts_of_numbers(unsigned* out, unsigned offset) {
  unsigned x = blockIdx.x * blockDim.x + threadIdx.x;
  unsigned long long wide = x + 32ULL * offset;
  unsigned parts[10] = {x & 31,
                        x >> 5,
                        (x << 5) & ~1023U,
                        ((x + 32 * offset) << 3) & ~255U,
                        (x << 27) >> 2,
                        (x << 2) & 124,
                        ((x + offset) << 5) & ~1023U,
                        (x << 5 | 7) & ~1023U,
                        static_cast<unsigned>(wide * 8 >> 9),
                        threadIdx.x & ~15U};
  unsigned sum = 0;
  for (int i = 0; i < 10; ++i) {
    sum = sum * 31 + __shfl_xor_sync(~0U, parts[i], i);
    out[x * 11 + i] = parts[i];
  }
  out[x * 11 + 10] = sum;
}
