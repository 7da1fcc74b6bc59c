// Reads of what nothing has written that only a trace shows, and their right twins.
#include <vector>

#include "seeded.hpp"

static int* list_of(int count, int step) {
  std::vector<int> list(count);
  for (int i = 0; i < count; ++i)
    list[i] = i * step % count;
  int* there = device_array<int>(count);
  cudaMemcpy(there, list.data(), count * sizeof(int), cudaMemcpyHostToDevice);
  return there;
}

__global__ void put(float* out, const int* list, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[list[i]] = i;
}
__global__ void pick(float* out, const float* in, const int* list, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = 2 * in[list[i]];  // pick
}

// A step that shares a factor with the count leaves holes.
static void holes(bool is_right) {
  float* a = device_array<float>(90);
  put<<<3, 32>>>(a, list_of(90, is_right ? 7 : 6), 90);
  pick<<<3, 32>>>(device_array<float>(90), a, list_of(90, 1), 90);
}

__global__ void add_to_bins(int* bins, const int* values, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) atomicAdd(&bins[values[i] % 16], 1);  // add-to-bins
}

static void bins(bool is_right) {
  int* all = is_right ? zeros<int>(16) : device_array<int>(16);
  add_to_bins<<<2, 40>>>(all, list_of(77, 1), 77);
}

// The last tile is not whole: what lies behind it in shared memory was never written.
template <bool is_right>
__global__ void tile_sums(float* sums, const float* in, int n) {
  __shared__ float tile[64];
  int i = blockIdx.x * 64 + threadIdx.x;
  if (i < n) {
    tile[threadIdx.x] = in[i];
  } else if (is_right) {
    tile[threadIdx.x] = 0;
  }
  __syncthreads();
  if (threadIdx.x != 0) return;
  float sum = 0;
  for (int k = 0; k < 64; ++k)
    sum += tile[k];  // tile-sums
  sums[blockIdx.x] = sum;
}

static void last_tile(bool is_right) {
  float *sums = device_array<float>(3), *in = zeros<float>(150);
  is_right ? tile_sums<true><<<3, 64>>>(sums, in, 150) : tile_sums<false><<<3, 64>>>(sums, in, 150);
}

template <bool is_right>
__global__ void block_count(int* counts, const int* values, int n) {
  __shared__ int found;
  if (is_right && threadIdx.x == 0) found = 0;
  __syncthreads();
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n && values[i] > 3) atomicAdd(&found, 1);  // block-count
  __syncthreads();
  if (threadIdx.x == 0) counts[blockIdx.x] = found;
}

static void shared_counter(bool is_right) {
  int *counts = device_array<int>(4), *values = list_of(99, 1);
  is_right ? block_count<true><<<4, 25>>>(counts, values, 99)
           : block_count<false><<<4, 25>>>(counts, values, 99);
}

// A condition on data: only marked elements are computed, all are added.
__global__ void marked(float* out, const int* marks, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n && marks[i] % 2 == 0) out[i] = 1;
}
__global__ void add_all(float* sum, const float* in, int n) {
  float all = 0;
  for (int i = 0; i < n; ++i)
    all += in[i];  // add-all
  *sum = all;
}

static void unmarked(bool is_right) {
  float* a = is_right ? zeros<float>(60) : device_array<float>(60);
  marked<<<2, 32>>>(a, list_of(60, 1), 60);
  add_all<<<1, 1>>>(device_array<float>(1), a, 60);
}

// A copy on the device hands on what was never written.
static void copied(bool is_right) {
  float *a = device_array<float>(50), *b = device_array<float>(50);
  cudaMemset(a, 0, (is_right ? 50 : 25) * sizeof(float));
  cudaMemcpy(b, a, 50 * sizeof(float), cudaMemcpyDeviceToDevice);
  pick<<<1, 64>>>(device_array<float>(50), b, list_of(50, 7), 50);
}

// So does a kernel that moves values by a list.
__global__ void permute(float* out, const float* in, const int* list, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[list[i]] = in[i];
}

static void permuted(bool is_right) {
  float *a = device_array<float>(70), *b = device_array<float>(70);
  cudaMemset(a, 0, (is_right ? 70 : 69) * sizeof(float));
  permute<<<2, 40>>>(b, a, list_of(70, 3), 70);
  pick<<<2, 40>>>(device_array<float>(70), b, list_of(70, 1), 70);
}

__global__ void walk(int* steps, const int* next, int first) {
  int count = 0;
  for (int at = first; at != 0 && count < 100; ++count)
    at = next[at];  // walk
  *steps = count;
}

static void list_end(bool is_right) {
  std::vector<int> next(12);
  for (int i = 0; i < 12; ++i)
    next[i] = (i + 1) % 12;
  int* there = device_array<int>(12);
  cudaMemcpy(there, next.data(), (is_right ? 12 : 11) * sizeof(int), cudaMemcpyHostToDevice);
  walk<<<1, 1>>>(device_array<int>(1), there, 1);
}

// Structures with padding, copied by fields and whole, by an index that is data: right.
struct Padded {
  char mark;
  int number;
  short rest;
};
__global__ void fill(Padded* out, const int* list, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  Padded& one = out[list[i]];
  one.mark = 1;
  one.number = i;
  one.rest = 2;
}
__global__ void move(Padded* out, const Padded* in, const int* list, int n) {
  __shared__ Padded kept[32];
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) kept[threadIdx.x] = in[list[i]];
  __syncthreads();
  if (i < n) out[i] = kept[threadIdx.x];
}
__global__ void total(int* sum, const Padded* in, int n) {
  int all = 0;
  for (int i = 0; i < n; ++i)
    all += in[i].mark + in[i].number + in[i].rest;
  *sum = all;
}

static void padding(bool) {
  Padded *a = device_array<Padded>(44), *b = device_array<Padded>(44);
  fill<<<2, 32>>>(a, list_of(44, 3), 44);
  move<<<2, 32>>>(b, a, list_of(44, 5), 44);
  total<<<1, 1>>>(device_array<int>(1), b, 44);
}

// Of a vector only some elements are used: right.
__global__ void lengths(float* out, const float4* in, const int* list, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  float4 v = in[list[i]];
  out[i] = v.x * v.x + v.y * v.y + v.z * v.z;
}
__global__ void points(float4* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i].x = out[i].y = out[i].z = i;
}

static void unused_element(bool) {
  float4* a = device_array<float4>(33);
  points<<<2, 20>>>(a, 33);
  lengths<<<2, 20>>>(device_array<float>(33), a, list_of(33, 2), 33);
}

int main(int argc, char** argv) {
  constexpr SeededCase cases[] = {
      {"holes", holes},         {"bins", bins},
      {"last-tile", last_tile}, {"shared-counter", shared_counter},
      {"unmarked", unmarked},   {"copied", copied},
      {"permuted", permuted},   {"list-end", list_end},
      {"padding", padding},     {"unused-element", unused_element},
  };
  return run_case(cases, argc, argv);
}
