// Lanes of a warp that exchange through memory without a barrier, as they may where they run in step.

// What a block of 64 or more threads has in s[0] to s[63], added up with no barrier.
extern "C" __global__ void tree_volatile(const int* in, int* out) {
  __shared__ int s[256];
  volatile int* v = s;
  int t = threadIdx.x;
  s[t] = in[blockIdx.x * blockDim.x + t];
  for (int half = blockDim.x / 2; half > 32; half /= 2) {
    __syncthreads();
    if (t < half) s[t] += s[t + half];
  }
  __syncthreads();
  if (t < 32) {
    v[t] += v[t + 32];
    v[t] += v[t + 16];
    v[t] += v[t + 8];
    v[t] += v[t + 4];
    v[t] += v[t + 2];
    v[t] += v[t + 1];
  }
  if (t == 0) out[blockIdx.x] = s[0];
}

extern "C" __global__ void tree_plain(const int* in, int* out) {
  __shared__ int s[256];
  int t = threadIdx.x;
  s[t] = in[blockIdx.x * blockDim.x + t];
  for (int half = blockDim.x / 2; half > 16; half /= 2) {
    __syncthreads();
    if (t >= half) return;
    s[t] += s[t + half];
  }
  if (t < 16) {
    s[t] += s[t + 16];
    if (t < 8) {
      s[t] += s[t + 8];
      if (t < 4) {
        s[t] += s[t + 4];
        if (t < 2) {
          s[t] += s[t + 2];
          if (t < 1) s[t] += s[t + 1];
        }
      }
    }
  }
  if (t == 0) out[blockIdx.x] = s[0];
}

extern "C" __global__ void tree_loop(const int* in, int* out) {
  __shared__ volatile int s[256];
  int t = threadIdx.x;
  s[t] = in[blockIdx.x * blockDim.x + t];
  for (int half = blockDim.x / 2; half > 32; half >>= 1) {
    __syncthreads();
    if (t < half) s[t] += s[t + half];
  }
  __syncthreads();
  if (t < 32) {
#pragma unroll 1
    for (int half = 32; half > 0; half >>= 1) s[t] += s[t + half];
  }
  if (t == 0) out[blockIdx.x] = s[0];
}

// A sum for each warp, or what there is of it.
extern "C" __global__ void warp_trees(const int* in, int* out) {
  __shared__ int s[1024];
  int t = threadIdx.x, lane = t & 31;
  int lanes = min(32, int(blockDim.x) - (t & ~31));
  s[t] = in[t];
#pragma unroll 1
  for (int d = 16; d > 0; d >>= 1) {
    if (lane < d && lane + d < lanes) s[t] += s[t + d];
  }
  if (lane == 0) out[t / 32] = s[t];
}

// A warp of a block of 16 columns holds two rows.
extern "C" __global__ void tree_of_two_rows(const int* in, int* out) {
  __shared__ volatile int s[16][16];
  int x = threadIdx.x, y = threadIdx.y;
  s[y][x] = in[y * 16 + x];
  if (y % 2 == 0) s[y][x] += s[y + 1][x];
  if (x < 8) s[y][x] += s[y][x + 8];
  if (x < 4) s[y][x] += s[y][x + 4];
  if (x < 2) s[y][x] += s[y][x + 2];
  if (x < 1) s[y][x] += s[y][x + 1];
  if (x == 0 && y % 2 == 0) out[y / 2] = s[y][0];
}

// Zeros before each warp's values stand for lanes that are not there.
extern "C" __global__ void padded_scan(const int* in, int* out) {
  __shared__ volatile int s[8 * 48];
  int t = threadIdx.x, at = t / 32 * 48 + 16 + t % 32;
  if (t % 32 < 16) s[at - 16] = 0;
  s[at] = in[t];
  s[at] += s[at - 1];
  s[at] += s[at - 2];
  s[at] += s[at - 4];
  s[at] += s[at - 8];
  s[at] += s[at - 16];
  out[t] = s[at];
}

extern "C" __global__ void scan_of_some(const int* in, int* out) {
  __shared__ int s[256];
  int t = threadIdx.x, lane = t & 31;
  s[t] = in[t];
#pragma unroll 1
  for (int d = 1; d < 32; d *= 2) {
    if (lane >= d) {
      int left = s[t - d];
      s[t] += left;
    }
  }
  out[t] = s[t];
}

// All lanes read their neighbour's value before any writes its own.
extern "C" __global__ void shifts(const int* in, int* out, int up) {
  __shared__ int s[258];
  int t = threadIdx.x, lane = t & 31;
  s[t] = in[t];
  int neighbour = t & ~31 | (up ? lane + 1 : lane + 31) & 31;
  for (int i = 0; i < 3; ++i) {
    int value = s[neighbour];
    s[t] = value;
  }
  out[t] = s[t];
}

__device__ __noinline__ int sum_of_warp(volatile int* s, int lane) {
  if (lane < 16) {
    s[lane] += s[lane + 16];
    s[lane] += s[lane + 8];
    s[lane] += s[lane + 4];
    s[lane] += s[lane + 2];
    s[lane] += s[lane + 1];
  }
  return s[0];
}

extern "C" __global__ void tree_in_function(const int* in, int* out) {
  __shared__ int s[256 + 16];
  int t = threadIdx.x;
  s[t] = in[t];
  out[t] = sum_of_warp(s + (t & ~31), t & 31);
}

// Where a lane reads stands in a table.
extern "C" __global__ void table(const int* in, const int* from, int* out) {
  __shared__ int s[256];
  int t = threadIdx.x;
  s[t] = in[t];
  out[t] = s[(t & ~31) + from[t]];
}

// Each round writes as many words more as there are: lanes join from round to round.
extern "C" __global__ void doubling(int* out) {
  __shared__ volatile int s[256];
  int t = threadIdx.x, lane = t & 31;
  s[t] = 0;
#pragma unroll 1
  for (int d = 1; d < 32; d *= 2) {
    if (lane < d) s[t + d] = s[t] + d;
  }
  out[t] = s[t];
}

extern "C" __global__ void both_ways(const int* in, int* out) {
  __shared__ int s[256];
  int t = threadIdx.x, lane = t & 31;
  if (lane % 3 == 0) {
    s[t] = in[t];
  } else {
    s[t] = -in[t];
  }
  out[t] = s[t ^ 31];
}

extern "C" __global__ void atomic_then_plain(const int* in, int* out) {
  __shared__ int sums[8];
  int t = threadIdx.x;
  if (t % 32 == 0) sums[t / 32] = 100;
  atomicAdd(&sums[t / 32], in[t]);
  out[t] = sums[t / 32];
}

// Global memory: the same buffer is written and read at the next lane's place.
extern "C" __global__ void next_in_buffer(const int* in, int* buffer, int* out) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  buffer[i] = in[i] * 2;
  if (threadIdx.x % 32 < 31) out[i] = buffer[i + 1];
}

extern "C" __global__ void shift_in_place(int* buffer) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (threadIdx.x % 32 > 0) buffer[i] = buffer[i - 1] + 1;
}

// Each warp sorts its part of a buffer in place: how far its lanes reach halves in each round, and how
// much there is to sort is known when the kernel runs.
extern "C" __global__ void sort_in_buffer(int* buffer, long long count) {
  int lane = threadIdx.x & 31;
  int* part = buffer + (threadIdx.x / 32) * count;
  for (long long size = 2; size <= count; size *= 2) {
    for (long long reach = size / 2; reach >= 1; reach /= 2) {
      for (long long j = lane; j < count / 2; j += 32) {
        long long at = j + (j & -reach);
        int first = part[at], second = part[at + reach];
        if (at & size ? first < second : first > second) {
          part[at] = second;
          part[at + reach] = first;
        }
      }
    }
  }
}

// A buffer's first elements become the greatest; then a network says where they go.
extern "C" __global__ void merge_in_buffer(int* buffer, int count) {
  int lane = threadIdx.x;
  for (int i = lane; i < count; i += 32) {
    int first = buffer[count - i - 1], second = buffer[count + i];
    if (first < second) {
      buffer[count - i - 1] = second;
      buffer[count + i] = first;
    }
  }
  for (int reach = count / 2; reach >= 1; reach /= 2) {
    for (int j = lane; j < count / 2; j += 32) {
      int at = j + (j & -reach);
      int first = buffer[at], second = buffer[at + reach];
      if (first < second) {
        buffer[at] = second;
        buffer[at + reach] = first;
      }
    }
  }
}

extern "C" __global__ void tree_in_buffer(int* buffer, int count) {
  int t = threadIdx.x;
  for (int half = count / 2; half > 0; half >>= 1) {
    if (t < half) buffer[t] += buffer[t + half];
  }
}

extern "C" __global__ void scan_in_buffer(int* buffer, int count) {
  int t = threadIdx.x;
  for (int reach = 1; reach < count; reach *= 2) {
    if (t >= reach) buffer[t] += buffer[t - reach];
  }
}

// A lock that each lane takes for itself, which lanes in step alone could not; then a sum.
extern "C" __global__ void lock_and_tree(const int* in, int* out) {
  __shared__ int lock, kept;
  __shared__ volatile int s[64];
  int t = threadIdx.x;
  if (t == 0) lock = kept = 0;
  __syncthreads();
  bool done = false;
  while (!done) {
    if (atomicCAS(&lock, 0, 1) == 0) {
      kept = kept * 3 % 1000 + in[t];
      __threadfence_block();
      atomicExch(&lock, 0);
      done = true;
    }
  }
  s[t] = in[t];
  if (t % 32 < 16) s[t] += s[t + 16];
  __syncthreads();
  out[t] = s[t];
  if (t == 0) out[64] = kept;
}

// A sum by some lanes, while others wait for them in an exchange that still others have ended
// before.
extern "C" __global__ void tree_before_exchange(const int* in, int* out) {
  __shared__ volatile int s[256];
  int t = threadIdx.x, lane = t & 31;
  s[t] = in[t];
  if (lane >= 24) return;
  if (lane < 8) {
    s[t] += s[t + 8];
    s[t] += s[t + 4];
    s[t] += s[t + 2];
    s[t] += s[t + 1];
  }
  out[t] = __shfl_sync(0xffffffffU, s[t], 0);
}

// A triangular system: what a lane has found, those behind it use in the next round.
extern "C" __global__ void substitute(const int* factors, int* x) {
  __shared__ volatile int s[32];
  int t = threadIdx.x;
  s[t] = x[t];
  for (int i = 0; i < 31; ++i) {
    if (t > i) s[t] = s[t] - factors[t * 32 + i] * s[i];
  }
  x[t] = s[t];
}

// A tree of which each step lies under the condition of the one before it, with barriers for those
// that are left, as some libraries write it. Threads behind n end at once.
extern "C" __global__ void tree_in_branches(const int* in, int* out, int n) {
  __shared__ int s[256];
  int t = threadIdx.x;
  s[t] = in[blockIdx.x * 256 + t];
  if (t >= n) return;
  __syncthreads();
  if (t < 128) {
    s[t] += s[t + 128];
    __syncthreads();
    if (t < 64) {
      s[t] += s[t + 64];
      __syncthreads();
      if (t < 32) {
        s[t] += s[t + 32];
        __syncthreads();
        if (t == 0) {
          int sum = 0;
          for (int i = 0; i < 32; ++i)
            sum += s[i];
          out[blockIdx.x] = sum;
        }
      }
    }
  }
}

// Some threads end in the first round of a loop, which others go through n times.
extern "C" __global__ void fewer_after_one_round(int* rounds, int n) {
  int t = threadIdx.x;
#pragma unroll 1
  for (int i = 0; i < n; ++i) {
    __syncthreads();
    rounds[t] += i + 1;
    if (t >= 100) return;
  }
  rounds[t] += 1000;
}
