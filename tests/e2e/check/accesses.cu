// Accesses that only a trace shows to be wrong, since their indices are data, and calls that free
// wrongly; and their right twins.
#include <vector>

#include "seeded.hpp"

// Lists are data: `wrong` has one bad entry.
static int* list_of(int count, int bad_at, int bad) {
  std::vector<int> list(count);
  for (int i = 0; i < count; ++i)
    list[i] = (7 * i) % count;
  if (bad_at >= 0) list[bad_at] = bad;
  int* there = device_array<int>(count);
  cudaMemcpy(there, list.data(), count * sizeof(int), cudaMemcpyHostToDevice);
  return there;
}

__global__ void pick(float* out, const float* in, const int* list, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = in[list[i]] + 1;  // pick
}

static void gather(bool is_right) {
  float *in = zeros<float>(100), *out = zeros<float>(100);
  pick<<<2, 64>>>(out, in, list_of(100, is_right ? -1 : 70, 100), 100);
}

__global__ void put(float* out, const int* list, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[list[i]] = i;  // put
}

static void scatter(bool is_right) {
  float* out = zeros<float>(75);
  put<<<3, 30>>>(out, list_of(75, is_right ? -1 : 9, -2), 75);
}

__global__ void count_bins(int* bins, const int* values, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) atomicAdd(&bins[values[i]], 1);  // count-bins
}

static void bins(bool is_right) {
  int* all = zeros<int>(is_right ? 90 : 64);
  count_bins<<<3, 32>>>(all, list_of(90, -1, 0), 90);
}

// The list of a row ends where the next begins; the last row has none behind it.
__global__ void rows(float* sums, const int* begins, const float* values, int n) {
  int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= n) return;
  float sum = 0;
  for (int i = begins[row]; i < begins[row + 1]; ++i)  // rows
    sum += values[i];
  sums[row] = sum;
}

static void row_ends(bool is_right) {
  std::vector<int> begins(21);
  for (int i = 0; i < 21; ++i)
    begins[i] = 3 * i;
  int* there = device_array<int>(is_right ? 21 : 20);
  cudaMemcpy(there, begins.data(), (is_right ? 21 : 20) * sizeof(int), cudaMemcpyHostToDevice);
  rows<<<1, 32>>>(zeros<float>(20), there, zeros<float>(60), 20);
}

static void after_free(bool is_right) {
  float *in = zeros<float>(64), *out = zeros<float>(64);
  int* list = list_of(64, -1, 0);
  if (!is_right) cudaFree(in);
  pick<<<1, 64>>>(out, in, list, 64);
  cudaDeviceSynchronize();
  if (is_right) cudaFree(in);
}

static void after_ordered_free(bool is_right) {
  cudaStream_t stream;
  cudaStreamCreate(&stream);
  float* in = nullptr;
  cudaMallocAsync(&in, 50 * sizeof(float), stream);
  cudaMemsetAsync(in, 0, 50 * sizeof(float), stream);
  int* list = list_of(50, -1, 0);
  float* out = zeros<float>(50);
  if (!is_right) cudaFreeAsync(in, stream);
  pick<<<1, 50, 0, stream>>>(out, in, list, 50);
  if (is_right) cudaFreeAsync(in, stream);
  cudaStreamSynchronize(stream);
}

__global__ void sum_pairs(float* out, const float* in, const int* list, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  float2 pair = *reinterpret_cast<const float2*>(in + list[i]);  // sum-pairs
  out[i] = pair.x + pair.y;
}

static void misaligned(bool is_right) {
  std::vector<int> list(40);
  for (int i = 0; i < 40; ++i)
    list[i] = 2 * i;
  if (!is_right) list[33] = 7;
  int* there = device_array<int>(40);
  cudaMemcpy(there, list.data(), 40 * sizeof(int), cudaMemcpyHostToDevice);
  sum_pairs<<<2, 30>>>(zeros<float>(40), zeros<float>(80), there, 40);
}

__global__ void in_shared(float* out, const int* list, int n) {
  extern __shared__ float kept[];
  int i = threadIdx.x;
  if (i < n) kept[list[i]] = i;  // in-shared
  __syncthreads();
  if (i < n) out[i] = kept[i / 2];
}

static void dynamic_shared(bool is_right) {
  int n = 48;
  in_shared<<<1, 64, (is_right ? n : n - 1) * sizeof(float)>>>(zeros<float>(n), list_of(n, -1, 0),
                                                               n);
}

struct Node {
  float value;
  Node* next;
};
__global__ void add_up(float* sum, const Node* first) {
  float all = 0;
  for (const Node* node = first; node; node = node->next) all += node->value;  // add-up
  *sum = all;
}

static void freed_node(bool is_right) {
  Node* nodes[5];
  for (Node*& node : nodes)
    cudaMalloc(&node, sizeof(Node));
  for (int i = 0; i < 5; ++i) {
    Node node{1.5f, i < 4 ? nodes[i + 1] : nullptr};
    cudaMemcpy(nodes[i], &node, sizeof node, cudaMemcpyHostToDevice);
  }
  if (!is_right) cudaFree(nodes[3]);
  add_up<<<1, 1>>>(zeros<float>(1), nodes[0]);
}

static void double_free(bool is_right) {
  float* a = zeros<float>(30);
  put<<<1, 30>>>(a, list_of(30, -1, 0), 30);
  cudaFree(a);
  if (!is_right) cudaFree(a);
  cudaGetLastError();
}

static void ordered_double_free(bool is_right) {
  float* a = nullptr;
  cudaMallocAsync(&a, 120, 0);
  cudaFreeAsync(a, 0);
  if (!is_right) cudaFreeAsync(a, 0);
  cudaDeviceSynchronize();
  cudaGetLastError();
}

static void wrong_free(bool is_right) {
  float* a = zeros<float>(30);
  cudaFree(is_right ? a : a + 4);
  cudaGetLastError();
}

static void leak(bool is_right) {
  float *a = zeros<float>(25), *b = zeros<float>(40);
  int* list = list_of(25, -1, 0);
  put<<<1, 25>>>(a, list, 25);
  cudaFree(a);
  cudaFree(list);
  if (is_right) cudaFree(b);
}

// Two buffers that lie side by side, each used to its last byte, again and again.
static void neighbours(bool) {
  for (int round = 0; round < 3; ++round) {
    float *in = zeros<float>(128), *out = zeros<float>(128);
    int* list = list_of(128, -1, 0);
    pick<<<2, 64>>>(out, in, list, 128);
    cudaFree(in);
    cudaFree(out);
    cudaFree(list);
  }
}

int main(int argc, char** argv) {
  constexpr SeededCase cases[] = {
      {"gather", gather},
      {"scatter", scatter},
      {"bins", bins},
      {"row-ends", row_ends},
      {"after-free", after_free},
      {"after-ordered-free", after_ordered_free},
      {"misaligned", misaligned},
      {"dynamic-shared", dynamic_shared},
      {"freed-node", freed_node},
      {"double-free", double_free},
      {"ordered-double-free", ordered_double_free},
      {"wrong-free", wrong_free},
      {"leak", leak},
      {"neighbours", neighbours},
  };
  return run_case(cases, argc, argv);
}
