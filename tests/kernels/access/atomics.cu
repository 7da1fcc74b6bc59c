// Atomics: each reads its place and may write it.
#define X int(blockIdx.x * blockDim.x + threadIdx.x)

extern "C" __global__ void atomic_add_own(float* out, int n) {
  if (X < n) atomicAdd(&out[X], 1.0f);
}

extern "C" __global__ void atomic_add_one_place(int* total) { atomicAdd(total, 1); }

extern "C" __global__ void atomic_max_per_block(int* out, const int* in) {
  atomicMax(&out[blockIdx.x], in[X]);
}

extern "C" __global__ void atomic_old_value(unsigned* out, unsigned* old, int n) {
  if (X < n) old[X] = atomicInc(&out[X / 4], 100);
}

extern "C" __global__ void atomic_exchange(int* out, int* old, int n) {
  if (X < n) old[X] = atomicExch(&out[n - 1 - X], X);
}

extern "C" __global__ void atomic_add_64(unsigned long long* out, int n) {
  if (X < n) atomicAdd(&out[2 * X], 1ull);
}

extern "C" __global__ void atomic_add_double(double* out) { atomicAdd(&out[blockIdx.x], 1.0); }

extern "C" __global__ void atomic_retry(int* out, const int* in, int n) {
  if (X >= n) return;
  int old = out[X], seen;
  do {
    seen = old;
    old = atomicCAS(&out[X], seen, seen + in[X]);
  } while (old != seen);
}

extern "C" __global__ void histogram_masked(const unsigned char* in, int* bins, int n) {
  if (X < n) atomicAdd(&bins[in[X] & 15], 1);
}

extern "C" __global__ void histogram_open(const int* in, int* bins, int n) {
  if (X < n) atomicAdd(&bins[in[X]], 1);
}

// Bins in shared memory first, then one add a bin to global memory.
extern "C" __global__ void histogram_shared(const unsigned char* in, int* bins, int n) {
  __shared__ int local[16];
  if (threadIdx.x < 16) local[threadIdx.x] = 0;
  __syncthreads();
  if (X < n) atomicAdd(&local[in[X] & 15], 1);
  __syncthreads();
  if (threadIdx.x < 16) atomicAdd(&bins[threadIdx.x], local[threadIdx.x]);
}

extern "C" __global__ void atomic_system_or(unsigned* out, int n) {
  if (X < n) atomicOr_system(&out[X / 32], 1u << (X % 32));
}
