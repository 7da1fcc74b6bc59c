// Kernels whose blocks check that each of their masters has run once, and that they themselves had
// not: several shapes, with and without barriers, shared memory and threads that end early.
// `masters` lists, for block b, places masters[rows[b]] .. masters[rows[b + 1] - 1] of `runs`.
struct Checks {
  unsigned* runs;
  const unsigned* rows;
  const unsigned* masters;
  unsigned* wrong;
};

static __device__ unsigned linear_block() {
  return blockIdx.x + gridDim.x * (blockIdx.y + gridDim.y * blockIdx.z);
}

static __device__ unsigned count_early(const Checks& checks, unsigned block, unsigned thread,
                                       unsigned threads) {
  unsigned early = 0;
  for (unsigned i = checks.rows[block] + thread; i < checks.rows[block + 1]; i += threads) {
    early += checks.runs[checks.masters[i]] != 1;
  }
  return early;
}

// No barrier: one thread does it all.
extern "C" __global__ void check_alone(Checks checks, unsigned first_run) {
  if (threadIdx.x + threadIdx.y != 0) return;
  const unsigned block = linear_block();
  if (count_early(checks, block, 0, 1) != 0) atomicAdd(checks.wrong, 1);
  if (++checks.runs[first_run + block] != 1) atomicAdd(checks.wrong, 1);
}

// Barriers and static shared memory.
extern "C" __global__ void check_together(unsigned first_run, Checks checks) {
  __shared__ unsigned early[64];
  const unsigned block = linear_block();
  early[threadIdx.x] = count_early(checks, block, threadIdx.x, blockDim.x);
  __syncthreads();
  for (unsigned half = blockDim.x / 2; half > 0; half /= 2) {
    if (threadIdx.x < half) early[threadIdx.x] += early[threadIdx.x + half];
    __syncthreads();
  }
  if (threadIdx.x != 0) return;
  if (early[0] != 0) atomicAdd(checks.wrong, 1);
  if (++checks.runs[first_run + block] != 1) atomicAdd(checks.wrong, 1);
}

// A block of odd size in three dimensions, dynamic shared memory, and threads that end before a
// barrier of the others.
extern "C" __global__ void check_draining(Checks checks, char pad, unsigned first_run) {
  extern __shared__ unsigned marks[];
  const unsigned thread = threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z);
  const unsigned threads = blockDim.x * blockDim.y * blockDim.z;
  marks[thread] = pad;
  __syncthreads();
  const unsigned block = linear_block();
  marks[(thread + 1) % threads] += count_early(checks, block, thread, threads);
  if (thread % 3 == 2) return;
  __syncthreads();
  if (thread != 0) return;
  unsigned early = 0;
  for (unsigned i = 0; i < threads; ++i) {
    early += marks[i] - pad;
  }
  if (early != 0) atomicAdd(checks.wrong, 1);
  if (++checks.runs[first_run + block] != 1) atomicAdd(checks.wrong, 1);
}
