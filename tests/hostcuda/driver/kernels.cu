// Kernels for the driver's tests.

extern "C" __global__ void add(const float* a, const float* b, float* c, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) c[i] = a[i] + b[i];
}

// Each launch appends its number: the order of launches can be read from memory.
extern "C" __global__ void append(int* log, int* length, int number) {
  log[*length] = number;
  *length += 1;
}

extern "C" __global__ void scale(int* values, int factor) {
  values[blockIdx.x * blockDim.x + threadIdx.x] *= factor;
}

__device__ int counter = 7;

extern "C" __global__ void add_to_counter(int amount) { counter += amount; }

// Reverses each block's values in dynamic shared memory.
extern "C" __global__ void reverse(int* values) {
  extern __shared__ int staged[];
  int* block = values + blockIdx.x * blockDim.x;
  staged[threadIdx.x] = block[threadIdx.x];
  __syncthreads();
  block[threadIdx.x] = staged[blockDim.x - 1 - threadIdx.x];
}

// A parameter block with padding inside.
extern "C" __global__ void mixed(char small, double large, short middle, double* out) {
  *out = small + large + middle;
}

extern "C" __global__ void __launch_bounds__(64) bounded(int* out) { out[threadIdx.x] = 1; }

extern "C" __global__ void stop_if(int condition) {
  if (condition) asm("trap;");
}

extern "C" __global__ void nothing() {}
