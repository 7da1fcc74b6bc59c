// Kernels that go where their arguments send them, and others that their data sends.
struct Part {
  int first;
  int count;
};

extern "C" __global__ void guarded(float* out, const float* in, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = 2 * in[i];
}
extern "C" __global__ void by_structure(float* out, const float* in, Part part) {
  for (int i = threadIdx.x; i < part.count; i += blockDim.x)
    out[part.first + i] = in[part.first + i] + 1;
}
extern "C" __global__ void by_tiles(float* out, const float* in, int n) {
  __shared__ float tile[64];
  float sum = 0;
  for (int begin = 0; begin < n; begin += 64) {
    tile[threadIdx.x] = in[begin + threadIdx.x];
    __syncthreads();
    for (int k = 0; k < 64; ++k)
      sum += tile[k] * (k ^ threadIdx.x);
    __syncthreads();
  }
  out[threadIdx.x] = sum;
}
extern "C" __global__ void sums_by_shuffles(float* out, const float* in, int n) {
  float sum = threadIdx.x < n ? in[threadIdx.x] : 0;
  for (int step = 16; step > 0; step /= 2)
    sum += __shfl_down_sync(0xffffffff, sum, step);
  if (threadIdx.x % 32 == 0) atomicAdd(out, sum);
}
extern "C" __global__ void larger_of_two(float* out, const float* in, int n) {
  float a = in[threadIdx.x], b = in[n - 1 - threadIdx.x];
  out[threadIdx.x] = a > b ? a : b;
}

extern "C" __global__ void gathers(float* out, const float* in, const int* list) {
  out[threadIdx.x] = in[list[threadIdx.x]];
}
extern "C" __global__ void branches(float* out, const float* in, const int* marks) {
  if (marks[threadIdx.x] != 0) out[threadIdx.x] = in[threadIdx.x];
}
extern "C" __global__ void goes_on(float* out, const float* in, const int* next) {
  int i = threadIdx.x;
  for (int at = next[i]; at != 0; at = next[at])
    i += 1;
  out[0] = i;
}
extern "C" __global__ void takes_slots(float* out, const float* in, int* count) {
  out[atomicAdd(count, 1)] = in[threadIdx.x];
}
extern "C" __global__ void asks_lanes(float* out, const float* in, int n) {
  if (__any_sync(0xffffffff, in[threadIdx.x] > n)) out[threadIdx.x] = 1;
}
extern "C" __global__ void by_lanes(float* out, const float* in, const int* list) {
  out[__shfl_sync(0xffffffff, list[threadIdx.x], 0) + threadIdx.x] = in[0];
}
extern "C" __global__ void by_clock(float* out, const float* in, int n) {
  out[clock() % n] = in[0];
}
extern "C" __global__ void by_shared(float* out, const float* in, const int* list) {
  __shared__ int kept[64];
  kept[threadIdx.x] = list[threadIdx.x];
  __syncthreads();
  out[kept[63 - threadIdx.x]] = in[0];
}
__constant__ int shift;
extern "C" __global__ void by_constant(float* out, const float* in, int n) {
  out[threadIdx.x + shift] = in[threadIdx.x];
}
extern "C" __global__ void by_array(float* out, const float* in, const int* list) {
  int own[4];
  for (int k = 0; k < 4; ++k)
    own[k] = list[k];
  out[own[threadIdx.x % 4]] = in[0];
}
