// Parameters, module variables, atomics, local memory and calls.
struct Shape {
  int width;
  char tag;
  double scale;
  float weights[3];
};

extern "C" __global__ void by_value(char first, Shape shape, short* out, double last) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  out[i] = short(first + shape.width * i + shape.tag + shape.scale * shape.weights[i % 3] + last);
}

__device__ float table[5] = {1.5f, -2.0f, 0.25f};
__constant__ int offsets[4] = {10, 20, 30, 40};
__device__ int counter;
__device__ int values[6] = {1, 2, 3, 4, 5, 6};
__device__ int* links[2] = {&values[4], values};

extern "C" __global__ void read_variables(float* out) {
  int i = threadIdx.x;
  out[i] = table[i % 5] + offsets[i % 4] + *links[i & 1];
}
extern "C" __global__ void write_variables(float by) {
  if (threadIdx.x < 5) table[threadIdx.x] += by;
  atomicAdd(&counter, 1);
}

extern "C" __global__ void atomics(int* integers, float* sum, unsigned long long* wide,
                                   double* doubles) {
  __shared__ int local;
  if (threadIdx.x == 0) local = 0;
  __syncthreads();
  atomicAdd(&local, 1);
  atomicAdd(&integers[0], 1);
  atomicMax(&integers[1], int(blockIdx.x * blockDim.x + threadIdx.x));
  atomicMin(&integers[2], -int(threadIdx.x));
  atomicOr(&integers[3], 1 << (threadIdx.x & 31));
  atomicXor(&integers[4], 1 << (threadIdx.x & 31));
  atomicInc((unsigned*)&integers[5], 9);
  int seen = integers[6];
  while (true) {
    int old = atomicCAS(&integers[6], seen, seen + 2);
    if (old == seen) break;
    seen = old;
  }
  atomicAdd(sum, 0.5f);
  atomicAdd(wide, 1ull << 33);
  atomicAdd(doubles, 0.25);
  __syncthreads();
  if (threadIdx.x == 0) atomicAdd(&integers[7], local);
}

__device__ __noinline__ float polynomial(float x, const float* coefficients, int n) {
  float value = 0;
  for (int i = n - 1; i >= 0; --i) value = fmaf(value, x, coefficients[i]);
  return value;
}
__device__ __noinline__ void swap_in_block(int* pool, int t) {
  __syncthreads();
  int other = pool[t ^ 1];
  __syncthreads();
  pool[t] = other;
}
extern "C" __global__ void calls(const float* x, float* y, const float* coefficients, int* data) {
  __shared__ int pool[32];
  int t = threadIdx.x;
  pool[t] = data[t];
  swap_in_block(pool, t);
  y[t] = polynomial(x[t], coefficients, 4);
  data[t] = pool[t];
}

// Addresses of shared and local memory as generic pointers, mixed with global ones.
__device__ __noinline__ void add_to(int* place, int value) { *place += value; }
extern "C" __global__ void generic_pointers(int* data, int which) {
  __shared__ int pool[32];
  int mine[4] = {0, 10, 20, 30};
  int t = threadIdx.x;
  pool[t] = t;
  int* places[3] = {&data[t], &pool[t], &mine[t & 3]};
  add_to(places[(t + which) % 3], 100);
  __syncthreads();
  data[32 + t] = pool[t] + 1000 * mine[t & 3];
}

extern "C" __global__ void histogram_local(const int* in, int* out, int n) {
  int bins[24];
  for (int& bin : bins) bin = 0;
  for (int i = 0; i < n; ++i) ++bins[in[threadIdx.x * n + i] % 24];
  int best = 0;
  for (int i = 1; i < 24; ++i) best = bins[i] > bins[best] ? i : best;
  out[threadIdx.x] = best;
}

extern "C" __global__ void vectors(const float4* in, float4* out, short2* pairs) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  float4 v = in[i];
  out[i] = make_float4(v.w, v.z, v.y, v.x);
  pairs[i] = make_short2(short(v.x), short(v.y));
}

extern "C" __global__ void traps(int* out) {
  if (threadIdx.x == 3) __trap();
  out[threadIdx.x] = 1;
}

// Every update of shared memory, by threads that meet in it: `seen` is what each found.
extern "C" __global__ void shared_atomics(int* bins_out, int* seen, float* sum_out) {
  __shared__ int bins[9];
  __shared__ float sum;
  const int t = threadIdx.x;
  if (t < 9) bins[t] = 0;
  if (t == 0) sum = 0;
  __syncthreads();
  seen[t] = atomicAdd(&bins[0], 1);
  atomicMax(&bins[1], t * 7 % 64);
  atomicMin(&bins[2], -t);
  atomicOr(&bins[3], 1 << (t & 31));
  atomicXor(&bins[4], t);
  atomicInc(reinterpret_cast<unsigned*>(&bins[5]), 9);
  for (int found = 0, wanted = 0;; wanted = found) {
    found = atomicCAS(&bins[6], wanted, wanted + 2);
    if (found == wanted) break;
  }
  atomicAdd(&bins[7 + t % 2], t);
  atomicAdd(&sum, 0.5f);
  __syncthreads();
  if (t < 9) bins_out[t] = bins[t];
  if (t == 0) *sum_out = sum;
}
