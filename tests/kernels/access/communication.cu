// Blocks of one launch that talk to one another.
#define X int(blockIdx.x * blockDim.x + threadIdx.x)

extern "C" __global__ void grid_barrier(volatile int* arrived, float* data) {
  data[X] = 1.0f;
  __threadfence();
  __syncthreads();
  if (threadIdx.x == 0) {
    atomicAdd(const_cast<int*>(arrived), 1);
    while (*arrived < int(gridDim.x)) {
    }
  }
  __syncthreads();
  data[X] += data[(X + blockDim.x) % (gridDim.x * blockDim.x)];
}

extern "C" __global__ void spin_on_flag(const volatile int* flag, float* out) {
  while (*flag == 0) {
  }
  out[X] = 1.0f;
}

extern "C" __global__ void spin_lock(int* mutex, float* out) {
  if (threadIdx.x == 0) {
    while (atomicCAS(mutex, 0, 1) != 0) {
    }
    out[0] += 1.0f;
    __threadfence();
    atomicExch(mutex, 0);
  }
}

// Each block waits for the prefix of the one before it.
extern "C" __global__ void look_back(volatile int* ready, volatile int* prefix, const int* in) {
  if (threadIdx.x != 0) return;
  int sum = in[blockIdx.x];
  if (blockIdx.x > 0) {
    while (ready[blockIdx.x - 1] == 0) {
    }
    sum += prefix[blockIdx.x - 1];
  }
  prefix[blockIdx.x] = sum;
  __threadfence();
  ready[blockIdx.x] = 1;
}

// The block that counts itself last adds up what all have left.
extern "C" __global__ void last_block_done(const float* in, float* partial, unsigned* count,
                                           float* total) {
  __shared__ bool is_last;
  if (threadIdx.x == 0) {
    partial[blockIdx.x] = in[X];
    __threadfence();
    is_last = atomicInc(count, gridDim.x - 1) == gridDim.x - 1;
  }
  __syncthreads();
  if (is_last && threadIdx.x == 0) {
    float sum = 0;
    for (unsigned b = 0; b < gridDim.x; ++b) sum += partial[b];
    *total = sum;
  }
}

// Blocks take their work from a counter: which block does what is decided as they run.
extern "C" __global__ void ticket_queue(unsigned* next, float* out, unsigned items) {
  __shared__ unsigned item;
  for (;;) {
    if (threadIdx.x == 0) item = atomicAdd(next, 1);
    __syncthreads();
    if (item >= items) return;
    out[item * blockDim.x + threadIdx.x] = 1.0f;
    __syncthreads();
  }
}

extern "C" __global__ void append(unsigned* length, const int* in, int* out, int n) {
  if (X < n && in[X] > 0) out[atomicAdd(length, 1)] = in[X];
}
