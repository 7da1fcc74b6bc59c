// Memory that is no footprint (shared, local, parameters) and memory of the module.
#define X int(blockIdx.x * blockDim.x + threadIdx.x)

extern "C" __global__ void shared_reverse(const float* in, float* out) {
  __shared__ float tile[64];
  tile[threadIdx.x] = in[X];
  __syncthreads();
  out[X] = tile[blockDim.x - 1 - threadIdx.x];
}

extern "C" __global__ void shared_dynamic(const float* in, float* out, int halo, int n) {
  extern __shared__ float dynamic_tile[];
  const int left = X - halo;
  dynamic_tile[threadIdx.x] = left >= 0 ? in[left] : 0.0f;
  __syncthreads();
  if (X < n) out[X] = dynamic_tile[threadIdx.x] + dynamic_tile[threadIdx.x ^ 1];
}

extern "C" __global__ void shared_gather(const int* index, float* out) {
  __shared__ float tile[64];
  tile[threadIdx.x] = float(threadIdx.x);
  __syncthreads();
  out[X] = tile[index[X] & 63];
}

extern "C" __global__ void local_array(const int* in, int* out, int n) {
  int stack[8];
  for (int i = 0; i < 8; ++i) stack[i] = i * X;
  if (X < n) out[X] = stack[in[X] & 7];
}

struct Table {
  int values[8];
};
extern "C" __global__ void parameter_array(Table table, const int* in, int* out, int n) {
  if (X < n) out[X] = table.values[in[X] & 7];
}

__constant__ float coefficients[4];
extern "C" __global__ void constant_table(const float* in, float* out, int n) {
  if (X >= n) return;
  float sum = 0;
  for (int k = 0; k < 4; ++k) sum += coefficients[k] * in[X + k];
  out[X] = sum;
}

// Of large numbers it takes a table of the compiler's own, by a pointer that a loop moves on.
extern "C" __global__ void compiler_table(const float* in, float* out, int n) {
  if (X < n) out[X] = sinf(in[X]);
}

__device__ float device_table[64];
extern "C" __global__ void module_table_read(float* out, int n) {
  if (X < n) out[X] = device_table[X % 64];
}

extern "C" __global__ void module_table_write(const float* in, int n) {
  if (X < n && X < 64) device_table[X] = in[X];
}

__device__ int device_counter;
extern "C" __global__ void module_counter(const int* in, int n) {
  if (X < n && in[X] > 0) atomicAdd(&device_counter, 1);
}

__device__ float* device_pointer;
extern "C" __global__ void module_pointer(int n) {
  if (X < n) device_pointer[X] = 1.0f;
}
