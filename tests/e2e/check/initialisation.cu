// Reads of memory that nothing has written, and their right twins.
#include <vector>

#include "seeded.hpp"

__global__ void add_one(float* out, const float* in, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = in[i] + 1;  // add-one
}

static void never_written(bool is_right) {
  float* in = is_right ? zeros<float>(300) : device_array<float>(300);
  add_one<<<blocks_for(300, 128), 128>>>(device_array<float>(300), in, 300);
}

__global__ void accumulate(float* sum, const float* in, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) sum[i] += in[i];  // accumulate
}

static void no_first_value(bool is_right) {
  float* sum = is_right ? zeros<float>(99) : device_array<float>(99);
  accumulate<<<4, 25>>>(sum, zeros<float>(99), 99);
}

static void half_a_copy(bool is_right) {
  std::vector<float> host(250);
  float* in = device_array<float>(250);
  cudaMemcpy(in, host.data(), is_right ? 250 * sizeof(float) : 250, cudaMemcpyHostToDevice);
  add_one<<<3, 100>>>(device_array<float>(250), in, 250);
}

static void half_a_memset(bool is_right) {
  float* in = device_array<float>(128);
  cudaMemsetAsync(in, 0, is_right ? 128 * sizeof(float) : 128, 0);
  add_one<<<2, 64>>>(device_array<float>(128), in, 128);
}

__global__ void fill_inner(float* a, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i > 0 && i < n - 1) a[i] = i;
}

__global__ void smooth(float* out, const float* in, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i > 0 && i < n - 1) out[i] = (in[i - 1] + in[i + 1]) / 2;  // smooth
}

static void border(bool is_right) {
  float* a = is_right ? zeros<float>(100) : device_array<float>(100);
  fill_inner<<<4, 30>>>(a, 100);
  smooth<<<4, 30>>>(device_array<float>(100), a, 100);
}

static void second_buffer(bool is_right) {
  float* a = zeros<float>(222);
  float* b = is_right ? zeros<float>(222) : device_array<float>(222);
  for (int step = 0; step < 4; ++step) {
    smooth<<<3, 90>>>(b, a, 222);
    float* const other = a;
    a = b, b = other;
  }
}

__global__ void partial_sums(float* partial, const float* in) {
  float sum = 0;
  for (int i = 0; i < 10; ++i) sum += in[blockIdx.x * 10 + i];
  if (threadIdx.x == 0) partial[blockIdx.x] = sum;
}

__global__ void last_sum(float* out, const float* partial, int count) {
  float sum = 0;
  for (int i = 0; i < count; ++i) sum += partial[i];  // last-sum
  *out = sum;
}

static void one_sum_too_many(bool is_right) {
  float* partial = device_array<float>(40);
  partial_sums<<<30, 1>>>(partial, zeros<float>(300));
  last_sum<<<1, 1>>>(device_array<float>(1), partial, is_right ? 30 : 31);
}

static void stream_ordered(bool is_right) {
  float* a = nullptr;
  for (int turn = 0; turn < 2; ++turn) {  // the second has the memory of the first
    cudaMallocAsync(&a, 640, 0);
    if (is_right || turn == 0) cudaMemsetAsync(a, 0, 640, 0);
    add_one<<<2, 80>>>(device_array<float>(160), a, 160);
    cudaFreeAsync(a, 0);
  }
}

// What follows is right both times.
__global__ void through_scratch(float* out, float* scratch, const float* in) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  scratch[i] = in[i] * 2;
  __syncthreads();
  out[i] = scratch[blockIdx.x * blockDim.x + blockDim.x - 1 - threadIdx.x] + 1;
}

static void scratch(bool) {
  through_scratch<<<3, 50>>>(device_array<float>(150), device_array<float>(150),
                             zeros<float>(150));
}

struct Padded {
  double value;
  char tag;
};
__global__ void fill_padded(Padded* all, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) all[i].value = i, all[i].tag = 'a';
}
__global__ void copy_words(int* out, const int* in, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = in[i];
}

static void padding(bool) {
  Padded *a = device_array<Padded>(60), *b = device_array<Padded>(60);
  fill_padded<<<2, 32>>>(a, 60);
  copy_words<<<8, 32>>>(reinterpret_cast<int*>(b), reinterpret_cast<int*>(a), 240);
}

static void rectangle(bool) {
  std::vector<float> host(20 * 30);
  float* a = nullptr;
  size_t pitch = 0;
  cudaMallocPitch(&a, &pitch, 20 * sizeof(float), 30);
  cudaMemcpy2D(a, pitch, host.data(), 80, 80, 30, cudaMemcpyHostToDevice);
  add_one<<<1, 20>>>(device_array<float>(20), a, 20);
}

__device__ float weights[50] = {1, 2, 3};

static void variable(bool) {
  void* address = nullptr;
  cudaGetSymbolAddress(&address, weights);
  add_one<<<1, 50>>>(device_array<float>(50), static_cast<float*>(address), 50);
}

__global__ void through_table(float** table) { table[blockIdx.x][threadIdx.x] = threadIdx.x; }

static void pointer_table(bool) {
  float* a = device_array<float>(64);
  float** table = device_array<float*>(1);
  cudaMemcpy(table, &a, sizeof a, cudaMemcpyHostToDevice);
  through_table<<<1, 64>>>(table);
  add_one<<<1, 64>>>(device_array<float>(64), a, 64);
}

int main(int argc, char** argv) {
  static const SeededCase cases[] = {{"never-written", never_written},
                                     {"no-first-value", no_first_value},
                                     {"half-a-copy", half_a_copy},
                                     {"half-a-memset", half_a_memset},
                                     {"border", border},
                                     {"second-buffer", second_buffer},
                                     {"one-sum-too-many", one_sum_too_many},
                                     {"stream-ordered", stream_ordered},
                                     {"scratch", scratch},
                                     {"padding", padding},
                                     {"rectangle", rectangle},
                                     {"variable", variable},
                                     {"pointer-table", pointer_table}};
  return run_case(cases, argc, argv);
}
