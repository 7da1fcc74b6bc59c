// Loops that threads run side by side, for tests that compare bit by bit. Compiled with -fmad=false.

// All threads go round equally often.
extern "C" __global__ void columns(const float* a, const float* b, float* c, int n, int width) {
  int x = blockIdx.x * blockDim.x + threadIdx.x;
  if (x >= width) return;
  float sum = 0;
  for (int k = 0; k < n; ++k)
    sum += a[k] * b[k * width + x];
  c[x] = sum;
}

// Threads go round as often as each can, some never; then they meet.
extern "C" __global__ void strided(const float* in, float* out, int count) {
  __shared__ float pool[256];
  unsigned t = threadIdx.x;
  float sum = 1;
  for (int i = blockIdx.x * blockDim.x + t; i < count; i += gridDim.x * blockDim.x)
    sum += in[i];
  pool[t] = sum;
  __syncthreads();
  out[blockIdx.x * blockDim.x + t] = pool[(t + 1) % blockDim.x];
}

// A loop that branches, whose threads leave it at different times: the largest number so far is
// marked, and who found none for long adds up what stands there.
extern "C" __global__ void branching(const float* in, float* out, int count) {
  int t = threadIdx.x;
  float top = 0, sum = 0;
  int rises = 0, last = -1;
  for (int i = t; i < count; i += blockDim.x) {
    float value = in[i];
    if (value > top) {
      out[i] = top;
      top = value;
      ++rises;
    } else if (i > 2 * last) {
      sum += in[count - 1 - i] * value;
      last = i;
    }
  }
  float* mine = out + count + 4 * t;
  mine[0] = top;
  mine[1] = sum;
  mine[2] = rises;
  mine[3] = last;
}

// Rows that the lanes of a warp go through side by side, as often as each can: nvcc unrolls such
// loops. The first counts by i, the second by a pointer too.
extern "C" __global__ void warp_rows(const float* in, float* out, int rows, int width) {
  int row = (blockIdx.x * blockDim.x + threadIdx.x) / 32;
  int lane = threadIdx.x % 32;
  if (row >= rows) return;
  float top = -1;
  for (int i = lane; i < width; i += 32)
    top = fmaxf(top, in[row * width + i]);
  const float* mine = in + (size_t)row * width;
  float sum = 0;
  for (int i = lane; i < width; i += 32)
    sum += mine[i];
  for (int i = lane; i < width; i += 32)
    out[row * width + i] = in[row * width + i] * sum + top;
}

// Threads that only compute, as long as each has to.
extern "C" __global__ void iterated(const float* in, float* out, const int* rounds) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  float x = in[i], before = 0;
  int k = 0;
  do {
    before = x;
    x = x * x * 0.001f + 0.25f;
  } while (++k < rounds[i % 7]);
  float y = x;
  while (y < 90.0f)
    y = y * 1.5f + 1.0f;
  out[2 * i] = x - before;
  out[2 * i + 1] = y;
}

// Two such loops under a condition, with work between them and values of before used after.
extern "C" __global__ void two_loops(const int* in, int* out, int count, int limit) {
  __shared__ int pool[256];
  int t = threadIdx.x;
  int first = 0, second = 0, between = t * 3;
  if (in[t] > 0) {
    for (int i = t; i < count; i += blockDim.x)
      first += in[i];
    between += first % 5;
    if (between % 2 == 0) {
      for (int i = t; i < limit; i += blockDim.x)
        second += in[i] ^ between;
    }
  } else {
    between = -t;
  }
  pool[t] = first + 7 * second + between;
  __syncthreads();
  out[t] = pool[t ^ 1];
}

// A loop that stores, inside a loop that all threads go round.
extern "C" __global__ void waves(int* numbers, int count, int rounds) {
  int t = threadIdx.x;
  for (int round = 0; round < rounds; ++round) {
    if (t % 3 != round % 3) {
      for (int i = t; i < count; i += blockDim.x)
        numbers[i] = numbers[i] * 3 + round;
    }
    __syncthreads();
  }
}

// A strided loop that starts where an outer one stands, which threads leave at different times.
extern "C" __global__ void nested(const float* in, float* out, int width, int count) {
  for (int i = threadIdx.x; i < width; i += blockDim.x) {
    for (int n = i; n < count; n += width)
      out[n] = in[n] + 1;
  }
}

// The same three deep, with work of a thread's own between the loops and after them.
extern "C" __global__ void nested_thrice(const int* in, int* out, int width, int count) {
  int sum = 0;
  for (int i = threadIdx.x; i < width; i += blockDim.x) {
    for (int round = 0; round < in[i] % 4; ++round) {
      int last = 0;
      for (int n = i; n < count; n += width) {
        last = in[n] + round;
        out[n] = out[n] * 3 + last;
      }
      sum = sum * 5 + last;
    }
  }
  out[count + threadIdx.x] = sum;
}

// Where a thread stood in its last round is used after the loop.
extern "C" __global__ void last_round(const int* in, int* out, int count) {
  int i = threadIdx.x, last, sum = 0;
  do {
    last = i;
    sum += in[i];
    i += blockDim.x;
  } while (i < count);
  out[2 * threadIdx.x] = last;
  out[2 * threadIdx.x + 1] = sum;
}

// More sums than a processor has registers go round with the threads.
extern "C" __global__ void many_sums(const float* a, const float* b, float* c, int n, int width) {
  __shared__ float rows[64];
  int x = blockIdx.x * blockDim.x + threadIdx.x;
  float sums[48];
  for (int i = 0; i < 48; ++i)
    sums[i] = i;
  for (int k = 0; k < n; ++k) {
    __syncthreads();
    for (int i = threadIdx.x; i < 64; i += blockDim.x)
      rows[i] = a[i] + k;
    __syncthreads();
    for (int j = 0; j < 50; ++j) {
      float own = b[j * width + x];
      for (int i = 0; i < 48; ++i)
        sums[i] += rows[i] * own;
    }
  }
  for (int i = 0; i < 48; ++i)
    c[i * width + x] = sums[i];
}

// Each block goes through a part of its own, one number less than the one before.
extern "C" __global__ void block_parts(const float* in, float* out, int width) {
  __shared__ float pool[256];
  int t = threadIdx.x;
  int part = width - static_cast<int>(blockIdx.x);
  float sum = 0;
  for (int i = t; i < part; i += blockDim.x)
    sum += in[blockIdx.x * width + i];
  pool[t] = sum;
  __syncthreads();
  if (t != 0) return;
  float total = 0;
  for (int i = 0; i < blockDim.x; ++i)
    total += pool[i];
  out[blockIdx.x] = total;
}

// Each thread goes on until a number that it reads says so, and some never start.
extern "C" __global__ void until_told(const int* in, int* out, int wanted) {
  int t = blockIdx.x * blockDim.x + threadIdx.x;
  int step = gridDim.x * blockDim.x;
  int rounds = 0;
  if (in[t] % 3 != wanted) {
    for (int i = t; in[i] >= 0; i += step) {
      out[step + i] = in[i] + rounds;
      ++rounds;
    }
  }
  out[t] = rounds;
}

// A grid-stride loop over a field of rows that are `pitch` apart.
extern "C" __global__ void field(const int* in, int* out, int width, int count, int pitch) {
  const int t = blockIdx.x * blockDim.x + threadIdx.x;
  int sum = out[t];
  for (int v = t; v < count; v += blockDim.x * gridDim.x) {
    const int place = v / width * pitch + v % width;
    sum += in[place] * 3 - in[place + pitch];
  }
  out[t] = sum;
}

__device__ float polynomial(float x, float first) {
  float sum = first;
  for (int i = 1; i < 7; ++i)
    sum = sum * x + i;
  return sum;
}

// Much is computed beside an atomic update, which all threads that are left come to.
extern "C" __global__ void tallies(const float* in, float* sums, float* state, int rounds,
                                   int width) {
  const int g = blockIdx.x * blockDim.x + threadIdx.x;
  if (g >= width) return;
  for (int i = 0; i < rounds; ++i) {
    __syncwarp();
    const float x = in[i * width + g];
    const float y = polynomial(x, 1) - polynomial(x, 2);
    atomicAdd(&sums[threadIdx.x], y * x + polynomial(x, state[g]));
    state[g] = polynomial(x, 3) - y;
  }
}

// The same where only some come to it.
extern "C" __global__ void some_tallies(const float* in, float* sums, float* state, int width) {
  const int g = blockIdx.x * blockDim.x + threadIdx.x;
  const float x = in[g];
  if (x > 1) {
    const float y = polynomial(x, 1) - polynomial(x, 2);
    atomicAdd(&sums[threadIdx.x], y * x + polynomial(x, state[g]));
    state[g] = polynomial(x, 3) - y;
  }
}
