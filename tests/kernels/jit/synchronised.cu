// Kernels whose threads exchange through shared memory with a barrier wherever one is needed.

extern "C" __global__ void reduce(const float* in, float* out) {
  __shared__ float s[256];
  int t = threadIdx.x;
  s[t] = in[blockIdx.x * blockDim.x + t];
  __syncthreads();
  for (int half = blockDim.x / 2; half > 0; half >>= 1) {
    if (t < half) s[t] += s[t + half];
    __syncthreads();
  }
  if (t == 0) out[blockIdx.x] = s[0];
}

// How far the first step reaches is known when the kernel runs.
extern "C" __global__ void reduce_some(const float* in, float* out, int n) {
  extern __shared__ float pool[];
  int t = threadIdx.x;
  pool[t] = in[blockIdx.x * blockDim.x + t];
  __syncthreads();
#pragma unroll 1
  for (int half = n / 2; half > 0; half >>= 1) {
    if (t < half) pool[t] += pool[t + half];
    __syncthreads();
  }
  if (t == 0) out[blockIdx.x] = pool[0];
}

// Of the two conditions one depends on what is known when the kernel runs.
extern "C" __global__ void reduce_full(const float* in, float* out, int n) {
  __shared__ float s[256];
  int t = threadIdx.x;
  s[t] = in[blockIdx.x * blockDim.x + t];
  __syncthreads();
  for (int step = 2; step <= n; step *= 2) {
    if ((t + 1) % step == 0 && t < n) s[t] += s[t - step / 2];
    __syncthreads();
  }
  if (t == n - 1) out[blockIdx.x] = s[t];
}

extern "C" __global__ void reduce_interleaved(const float* in, float* out) {
  __shared__ float s[256];
  int t = threadIdx.x;
  s[t] = in[blockIdx.x * blockDim.x + t];
  __syncthreads();
  for (int step = 1; step < blockDim.x; step *= 2) {
    if (t % (2 * step) == 0) s[t] += s[t + step];
    __syncthreads();
  }
  if (t == 0) out[blockIdx.x] = s[0];
}

extern "C" __global__ void reduce_strided(const float* in, float* out) {
  __shared__ float s[512];
  int t = threadIdx.x;
  s[t] = in[blockIdx.x * blockDim.x + t];
  __syncthreads();
  for (int step = 1; step < blockDim.x; step *= 2) {
    int at = 2 * step * t;
    if (at < blockDim.x) s[at] += s[at + step];
    __syncthreads();
  }
  if (t == 0) out[blockIdx.x] = s[0];
}

// Up and down a tree, as in the textbook's scan.
extern "C" __global__ void scan(const float* in, float* out, int n) {
  extern __shared__ float pool[];
  int t = threadIdx.x;
  int step = 1;
  pool[2 * t] = in[2 * t];
  pool[2 * t + 1] = in[2 * t + 1];
  for (int d = n >> 1; d > 0; d >>= 1) {
    __syncthreads();
    if (t < d) {
      int a = step * (2 * t + 1) - 1;
      int b = step * (2 * t + 2) - 1;
      pool[b] += pool[a];
    }
    step *= 2;
  }
  if (t == 0) pool[n - 1] = 0;
  for (int d = 1; d < n; d *= 2) {
    step >>= 1;
    __syncthreads();
    if (t < d) {
      int a = step * (2 * t + 1) - 1;
      int b = step * (2 * t + 2) - 1;
      float left = pool[a];
      pool[a] = pool[b];
      pool[b] += left;
    }
  }
  __syncthreads();
  out[2 * t] = pool[2 * t];
  out[2 * t + 1] = pool[2 * t + 1];
}

extern "C" __global__ void scan_twofold(const float* in, float* out) {
  __shared__ float s[2][256];
  int t = threadIdx.x, now = 0;
  s[0][t] = in[t];
  __syncthreads();
  for (int d = 1; d < blockDim.x; d *= 2) {
    s[1 - now][t] = t >= d ? s[now][t] + s[now][t - d] : s[now][t];
    now = 1 - now;
    __syncthreads();
  }
  out[t] = s[now][t];
}

extern "C" __global__ void transpose(const float* in, float* out, int n) {
  __shared__ float tile[32][33];
  int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 32 + threadIdx.y;
  for (int j = 0; j < 32; j += blockDim.y)
    tile[threadIdx.y + j][threadIdx.x] = in[(y + j) * n + x];
  __syncthreads();
  x = blockIdx.y * 32 + threadIdx.x;
  y = blockIdx.x * 32 + threadIdx.y;
  for (int j = 0; j < 32; j += blockDim.y)
    out[(y + j) * n + x] = tile[threadIdx.x][threadIdx.y + j];
}

extern "C" __global__ void bitonic(int* keys) {
  __shared__ int s[512];
  int t = threadIdx.x;
  s[t] = keys[t];
  s[t + 256] = keys[t + 256];
  for (unsigned size = 2; size <= 512; size <<= 1) {
    for (unsigned stride = size / 2; stride > 0; stride >>= 1) {
      __syncthreads();
      unsigned at = 2 * t - (t & (stride - 1));
      bool up = (t & (size / 2)) == 0;
      int a = s[at], b = s[at + stride];
      if ((a > b) == up) {
        s[at] = b;
        s[at + stride] = a;
      }
    }
  }
  __syncthreads();
  keys[t] = s[t];
  keys[t + 256] = s[t + 256];
}

// The same for as many keys as there are when the kernel runs.
extern "C" __global__ void bitonic_some(int* keys, unsigned count) {
  __shared__ int s[512];
  int t = threadIdx.x;
  s[t] = keys[t];
  s[t + 256] = keys[t + 256];
  for (unsigned size = 2; size <= count; size <<= 1) {
    for (unsigned stride = size / 2; stride > 0; stride >>= 1) {
      __syncthreads();
      unsigned at = 2 * t - (t & (stride - 1));
      bool up = (t & (size / 2)) == 0;
      int a = s[at], b = s[at + stride];
      if ((a > b) == up) {
        s[at] = b;
        s[at + stride] = a;
      }
    }
  }
  __syncthreads();
  keys[t] = s[t];
  keys[t + 256] = s[t + 256];
}

// A tile with a border, several steps of it in shared memory.
extern "C" __global__ void stencil_steps(const float* in, float* out, int n, int steps) {
  __shared__ float now[18][18], next[18][18];
  int x = threadIdx.x + 1, y = threadIdx.y + 1;
  int i = (blockIdx.y * 16 + y) * n + blockIdx.x * 16 + x;
  now[y][x] = in[i];
  if (x == 1) now[y][0] = in[i - 1];
  if (x == 16) now[y][17] = in[i + 1];
  if (y == 1) now[0][x] = in[i - n];
  if (y == 16) now[17][x] = in[i + n];
  __syncthreads();
  for (int step = 0; step < steps; ++step) {
    next[y][x] = 0.25f * (now[y - 1][x] + now[y + 1][x] + now[y][x - 1] + now[y][x + 1]);
    __syncthreads();
    now[y][x] = next[y][x];
    __syncthreads();
  }
  out[i] = now[y][x];
}

extern "C" __global__ void bodies(const float4* in, float4* out, int n) {
  extern __shared__ float4 others[];
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  float4 me = in[i], sum = {};
  for (int first = 0; first < n; first += blockDim.x) {
    others[threadIdx.x] = in[first + threadIdx.x];
    __syncthreads();
    for (int j = 0; j < blockDim.x; ++j) {
      float dx = others[j].x - me.x, dy = others[j].y - me.y, dz = others[j].z - me.z;
      float r = rsqrtf(dx * dx + dy * dy + dz * dz + 1e-6f);
      float s = others[j].w * r * r * r;
      sum.x += dx * s;
      sum.y += dy * s;
      sum.z += dz * s;
    }
    __syncthreads();
  }
  out[i] = sum;
}

extern "C" __global__ void histogram(const int* in, int* out, int n) {
  __shared__ int counts[512];
  for (int i = threadIdx.x; i < 512; i += blockDim.x) counts[i] = 0;
  __syncthreads();
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
    atomicAdd(&counts[in[i] & 511], 1);
  __syncthreads();
  for (int i = threadIdx.x; i < 512; i += blockDim.x) atomicAdd(&out[i], counts[i]);
}

// Each thread goes along a diagonal, with a barrier at each step.
extern "C" __global__ void diagonals(const int* costs, int* out, int penalty) {
  __shared__ int best[17][17];
  int t = threadIdx.x;
  best[t + 1][0] = -penalty * (t + 1);
  best[0][t + 1] = -penalty * (t + 1);
  if (t == 0) best[0][0] = 0;
  __syncthreads();
  for (int m = 0; m < 16; ++m) {
    if (t <= m) {
      int x = t + 1, y = m - t + 1;
      best[y][x] = max(best[y - 1][x - 1] + costs[y * 16 + x],
                       max(best[y][x - 1] - penalty, best[y - 1][x] - penalty));
    }
    __syncthreads();
  }
  out[t] = best[16][t + 1];
}

// Keys go to places that each thread has counted out for itself.
extern "C" __global__ void scatter(const int* in, const int* to, int* out) {
  __shared__ int s[512];
  int t = threadIdx.x;
  s[to[t]] = in[t];
  s[to[t + 256]] = in[t + 256];
  __syncthreads();
  out[t] = s[t];
  out[t + 256] = s[t + 256];
}

// Threads of one block write and read buffers that no pointer tells apart.
extern "C" __global__ void saxpy(float a, const float* x, float* y, int n) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
    y[i] = a * x[i] + y[i];
}

extern "C" __global__ void stencil_rows(const float* in, float* out, int n) {
  int x = blockIdx.x * blockDim.x + threadIdx.x;
  if (x == 0 || x >= n - 1) return;
  for (int y = 1; y < n - 1; ++y)
    out[y * n + x] = in[y * n + x - 1] + in[y * n + x + 1] + in[(y - 1) * n + x];
}

// Each thread goes down a column of one buffer, or along a part of it.
extern "C" __global__ void column_in_place(float* a, int n) {
  int x = blockIdx.x * blockDim.x + threadIdx.x;
  for (int y = 1; y < n; ++y) a[y * n + x] += 0.5f * a[(y - 1) * n + x];
}

extern "C" __global__ void part_in_place(float* a, int n) {
  float* part = a + (blockIdx.x * blockDim.x + threadIdx.x) * n;
  for (int i = 1; i < n; ++i) part[i] += 0.5f * part[i - 1];
}

extern "C" __global__ void paths(int* length, int n, int k) {
  for (int t = blockIdx.x * blockDim.x + threadIdx.x; t < n * n; t += gridDim.x * blockDim.x) {
    int i = t / n, j = t % n;
    length[t] = min(length[t], length[i * n + k] + length[k * n + j]);
  }
}

// Half of a number at a time, and nobody else's place.
extern "C" __global__ void look_up(const float* table, float* out, int n) {
  int t = blockIdx.x * blockDim.x + threadIdx.x, at = 0;
  for (int step = n / 2; step > 0; step /= 2)
    if (table[at + step] < out[t]) at += step;
  out[t] = table[at];
}

// Steps of a stencil on a tile whose neighbours are kept within what a grid has of it.
extern "C" __global__ void stencil_within(const float* in, float* out, int width, int height,
                                          int steps) {
  __shared__ float here[16][16];
  __shared__ float power[16][16];
  __shared__ float next[16][16];
  int tx = threadIdx.x, ty = threadIdx.y;
  int top = blockIdx.y * 12 - 2, left = blockIdx.x * 12 - 2;
  int x = left + tx, y = top + ty;
  if (x >= 0 && x < width && y >= 0 && y < height) {
    here[ty][tx] = in[y * width + x];
    power[ty][tx] = in[y * width + x] * 2;
  }
  __syncthreads();
  int first_y = top < 0 ? -top : 0, last_y = top + 15 > height - 1 ? height - 1 - top : 15;
  int first_x = left < 0 ? -left : 0, last_x = left + 15 > width - 1 ? width - 1 - left : 15;
  int north = max(ty - 1, first_y), south = min(ty + 1, last_y);
  int west = max(tx - 1, first_x), east = min(tx + 1, last_x);
  bool computed = false;
  for (int i = 0; i < steps; ++i) {
    computed = false;
    if (tx >= i + 1 && tx <= 14 - i && ty >= i + 1 && ty <= 14 - i && tx >= first_x &&
        tx <= last_x && ty >= first_y && ty <= last_y) {
      computed = true;
      next[ty][tx] = power[ty][tx] + here[north][tx] + here[south][tx] + here[ty][east] +
                     here[ty][west] - 4 * here[ty][tx];
    }
    __syncthreads();
    if (i == steps - 1) break;
    if (computed) here[ty][tx] = next[ty][tx];
    __syncthreads();
  }
  if (computed) out[y * width + x] = next[ty][tx];
}

// A factor of a symmetric matrix, column by column: each thread's row needs parts of rows that
// others have done before the last barrier.
extern "C" __global__ void cholesky(const float* in, float* out) {
  __shared__ float a[16][16];
  int t = threadIdx.x;
  for (int i = 0; i < 16; ++i)
    a[i][t] = in[i * 16 + t];
  __syncthreads();
  for (int k = 0; k < 16; ++k) {
    if (t >= k) {
      for (int j = 0; j < k; ++j)
        a[t][k] -= a[t][j] * a[k][j];
    }
    __syncthreads();
    if (t > k) a[t][k] /= sqrtf(a[k][k]);
    __syncthreads();
    if (t == k) a[k][k] = sqrtf(a[k][k]);
    __syncthreads();
  }
  for (int i = 0; i < 16; ++i)
    out[i * 16 + t] = t <= i ? a[i][t] : 0.0f;
}

// Each thread solves a triangular system for a right side of its own, half of them kept by rows and
// half by columns.
extern "C" __global__ void solve_sides(const float* factor, const float* sides, float* out) {
  __shared__ float l[16][16], by_row[16][16], by_column[16][16];
  int t = threadIdx.x, own = t % 16;
  for (int i = 0; i < 16; ++i) {
    if (t < 16) {
      l[i][own] = factor[i * 16 + own];
      by_row[i][own] = sides[i * 16 + own];
    } else {
      by_column[i][own] = sides[(i + 16) * 16 + own];
    }
  }
  __syncthreads();
  if (t < 16) {
    for (int i = 0; i < 16; ++i) {
      for (int j = 0; j < i; ++j)
        by_row[own][i] -= l[i][j] * by_row[own][j];
      by_row[own][i] /= l[i][i];
    }
  } else {
    for (int i = 0; i < 16; ++i) {
      for (int j = 0; j < i; ++j)
        by_column[i][own] -= l[i][j] * by_column[j][own];
      by_column[i][own] /= l[i][i];
    }
  }
  __syncthreads();
  for (int i = 0; i < 16; ++i)
    out[t * 16 + i] = t < 16 ? by_row[own][i] : by_column[i][own];
}
