// Kernels with barriers, for tests that compare bit by bit. Compiled with -fmad=false.
template <int tile>
__device__ void gemm(const float* a, const float* b, float* c, int m, int n, int k) {
  __shared__ float rows[tile][tile];
  __shared__ float columns[tile][tile];
  int x = blockIdx.x * tile + threadIdx.x;
  int y = blockIdx.y * tile + threadIdx.y;
  float sum = 0;
  for (int start = 0; start < k; start += tile) {
    int from_x = start + threadIdx.x;
    int from_y = start + threadIdx.y;
    rows[threadIdx.y][threadIdx.x] = y < m && from_x < k ? a[y * k + from_x] : 0;
    columns[threadIdx.y][threadIdx.x] = from_y < k && x < n ? b[from_y * n + x] : 0;
    __syncthreads();
    for (int i = 0; i < tile; ++i) sum = fmaf(rows[threadIdx.y][i], columns[i][threadIdx.x], sum);
    __syncthreads();
  }
  if (y < m && x < n) c[y * n + x] = sum;
}
extern "C" __global__ void gemm_16(const float* a, const float* b, float* c, int m, int n, int k) {
  gemm<16>(a, b, c, m, n, k);
}
extern "C" __global__ void gemm_8(const float* a, const float* b, float* c, int m, int n, int k) {
  gemm<8>(a, b, c, m, n, k);
}

// The classic reduction: a barrier in a loop, its trip count known at run time only.
extern "C" __global__ void reduce(const float* in, float* out, int n) {
  extern __shared__ float pool[];
  unsigned t = threadIdx.x;
  unsigned i = blockIdx.x * blockDim.x + t;
  pool[t] = i < n ? in[i] : 0.0f;
  __syncthreads();
  for (unsigned half = blockDim.x / 2; half > 0; half >>= 1) {
    if (t < half) pool[t] += pool[t + half];
    __syncthreads();
  }
  if (t == 0) out[blockIdx.x] = pool[0];
}

// Threads past the end leave before the barrier.
extern "C" __global__ void early_exit(const int* in, int* out, int n) {
  __shared__ int copy[256];
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  copy[threadIdx.x] = in[i];
  __syncthreads();
  int neighbour = i + 1 < n && threadIdx.x + 1 < blockDim.x ? copy[threadIdx.x + 1] : -1;
  __syncthreads();
  copy[threadIdx.x] = neighbour * 2;
  __syncthreads();
  out[i] = copy[threadIdx.x] + (threadIdx.x > 0 ? copy[threadIdx.x - 1] : 0);
}

// The branch looks at the thread, but all threads of a block agree on it.
extern "C" __global__ void looks_divergent(int* data, int limit) {
  __shared__ int copy[128];
  int row = (threadIdx.x + blockIdx.x * 1024) / 1024;
  copy[threadIdx.x] = data[blockIdx.x * blockDim.x + threadIdx.x];
  if (row < limit) {
    __syncthreads();
    data[blockIdx.x * blockDim.x + threadIdx.x] = copy[blockDim.x - 1 - threadIdx.x];
  }
}

// Two barriers in two arms that threads of one block take apart: each arm waits for the other.
extern "C" __global__ void barrier_in_arms(const int* in, int* out) {
  __shared__ int evens[64];
  __shared__ int odds[64];
  int t = threadIdx.x;
  int value = in[blockIdx.x * blockDim.x + t];
  if (t & 1) {
    odds[t / 2] = value;
    __syncthreads();
    out[blockIdx.x * blockDim.x + t] = evens[t / 2];
  } else {
    evens[t / 2] = value * 10;
    __syncthreads();
    out[blockIdx.x * blockDim.x + t] = odds[t / 2];
  }
}

// Each thread goes round its own number of times, with a barrier in the loop; those that are
// done leave.
extern "C" __global__ void barrier_in_divergent_loop(int* counts, int* total) {
  __shared__ int sum;
  int t = threadIdx.x;
  if (t == 0) sum = 0;
  __syncthreads();
  for (int i = 0; i <= t; ++i) {
    atomicAdd(&sum, 1);
    __syncthreads();
    counts[i * blockDim.x + t] = *(volatile int*)&sum;
    __syncthreads();
  }
  if (t == blockDim.x - 1) *total = sum;
}

// Values live across barriers: floats, predicates, pointers, and a loop between.
extern "C" __global__ void keeps_values(const float* in, float* out, int rounds) {
  __shared__ float pool[96];
  int t = threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z);
  int threads = blockDim.x * blockDim.y * blockDim.z;
  const float* mine = in + blockIdx.x * threads + t;
  float value = *mine;
  bool positive = value > 0;
  float sum = 0;
  for (int round = 0; round < rounds; ++round) {
    pool[t] = value + round;
    __syncthreads();
    float other = pool[(t + 1) % threads];
    __syncthreads();
    sum = positive ? sum + other : sum - other;
    value = other;
  }
  out[blockIdx.x * threads + t] = sum + *mine;
}

extern "C" __global__ void count_block(const int* in, int* count, int* all, int* any) {
  int value = in[blockIdx.x * blockDim.x + threadIdx.x];
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  count[i] = __syncthreads_count(value > 10);
  all[i] = __syncthreads_and(value > 0);
  any[i] = __syncthreads_or(value > 90);
}

// Static and dynamic shared memory of several types beside each other.
extern "C" __global__ void static_and_dynamic(const double* in, double* out, int n) {
  __shared__ char flags[33];
  __shared__ double values[64];
  extern __shared__ double doubles[];
  int t = threadIdx.x;
  values[t] = in[t];
  flags[t % 33] = 1;
  for (int i = t; i < n; i += blockDim.x) doubles[i] = in[t] * i;
  __syncthreads();
  double sum = values[63 - t] + flags[t % 33];
  for (int i = 0; i < n; ++i) sum += doubles[i];
  out[t] = sum;
}

// A local array indexed at run time that lives across a barrier.
extern "C" __global__ void local_across_barrier(const int* in, int* out) {
  __shared__ int pool[64];
  int t = threadIdx.x;
  int history[8];
  for (int i = 0; i < 8; ++i) history[i] = in[t] + i;
  pool[t] = in[t];
  __syncthreads();
  history[pool[63 - t] & 7] = -1;
  __syncthreads();
  int sum = 0;
  for (int i = 0; i < 8; ++i) sum += history[(i + in[t]) & 7] * (i + 1);
  out[t] = sum;
}

// Each thread leaves its loop in a round of its own and uses how far it came after a barrier.
extern "C" __global__ void search(const int* in, int* out) {
  __shared__ int found[256];
  int t = threadIdx.x;
  int i = t;
  do i += blockDim.x;
  while (in[i] >= 0);
  found[t] = in[i];
  __syncthreads();
  out[t] = i + found[(t + 1) % blockDim.x];
}
