// Launches that CUDA refuses at once, each asked for behind work that still runs, between launches
// of the same kernel that it accepts, and several times: the call itself gives the error, what is
// accepted runs, and nothing else does. A node of a graph is refused when the graph is
// instantiated. With "gpu" also what a GPU refuses and the CPU device has room for.
#include <cstdio>
#include <cstring>

#include <cuda_runtime.h>

constexpr int elements = 1 << 14;

__global__ void step(int* data, int n, int add) {
  const int i = int(blockIdx.x * blockDim.x + threadIdx.x);
  if (i < n) data[i] = data[i] * 3 + add;
}

__global__ void __launch_bounds__(128) bounded(int* data, int n, int add) {
  const int i = int(blockIdx.x * blockDim.x + threadIdx.x);
  if (i < n) data[i] += add;
}

__global__ void shared(int* data, int n, int add) {
  __shared__ int fixed[12000];
  extern __shared__ int asked_for[];
  const unsigned t = threadIdx.x, other = t ^ 1U;
  fixed[t] = data[t];
  asked_for[t] = add;
  __syncthreads();
  if (int(t) < n) data[t] = fixed[other] + asked_for[other];
}

__global__ void limited(int* data, int n, int add) {
  extern __shared__ int most_of_it[];
  most_of_it[threadIdx.x + 14000] = add;
  if (int(threadIdx.x) < n) data[threadIdx.x] += most_of_it[threadIdx.x + 14000];
}

// A GPU has registers for so many of its threads.
__global__ void heavy(int* data, int n, int add) {
  const int i = int(blockIdx.x * blockDim.x + threadIdx.x);
  if (i < n) data[i] ^= add;
}

__global__ void work(int* data, int rounds) {
  int value = data[0];
  for (int i = 0; i < rounds; ++i)
    value = value * 1664525 + 1013904223;
  data[0] = value;
}

using Kernel = void (*)(int*, int, int);

struct Row {
  const char* name;
  Kernel kernel;
  dim3 grid, block;
  size_t shared_bytes;
  cudaError_t expected;
  int most_shared_bytes = -1;  // the kernel's attribute before each launch; -1: as it is
};

const Row rows[] = {
    {"a block of 2048 threads", step, 1, 2048, 0, cudaErrorInvalidConfiguration},
    {"a block of 1025 threads", step, 1, 1025, 0, cudaErrorInvalidConfiguration},
    {"a block of 16 x 16 x 16", step, 1, dim3(16, 16, 16), 0, cudaErrorInvalidConfiguration},
    {"a block 65 threads deep", step, 1, dim3(2, 2, 65), 0, cudaErrorInvalidConfiguration},
    {"an empty block", step, 1, dim3(0, 1, 1), 0, cudaErrorInvalidConfiguration},
    {"a grid 65536 blocks high", step, dim3(1, 65536), 1, 0, cudaErrorInvalidConfiguration},
    {"a grid 65536 blocks deep", step, dim3(1, 1, 65536), 1, 0, cudaErrorInvalidConfiguration},
    {"an empty grid", step, dim3(0, 1, 1), 1, 0, cudaErrorInvalidConfiguration},
    {"49153 bytes of shared memory", step, 1, 128, 49153, cudaErrorInvalidValue},
    {"a million bytes of it", step, 1, 128, 1000000, cudaErrorInvalidValue},
    {"dynamic beside static shared memory", shared, 1, 128, 10000, cudaErrorInvalidValue},
    {"a block over its launch bounds", bounded, 1, 256, 0, cudaErrorInvalidValue},
    {"all of shared memory", step, 1, 128, 49152, cudaSuccess},
    {"a block at its launch bounds", bounded, 1, 128, 0, cudaSuccess},
    {"static and dynamic shared memory", shared, 1, 128, 1000, cudaSuccess},
    {"more than the kernel is allowed", limited, 1, 128, 61000, cudaErrorInvalidValue},
    {"what it is allowed then", limited, 1, 128, 60000, cudaSuccess, 60000},
    {"what it is not any more", limited, 1, 128, 60000, cudaErrorInvalidValue, 59999},
    {"what it is again", limited, 1, 128, 60000, cudaSuccess, 65536},
    {"what is no kernel", nullptr, 1, 128, 0, cudaErrorInvalidDeviceFunction},
};

const Row rows_of_a_gpu[] = {
    {"as many threads as have registers", heavy, 1, 512, 0, cudaSuccess},
    {"more threads than have registers", heavy, 1, 513, 0, cudaErrorLaunchOutOfResources},
    {"a full block without registers", heavy, 1, 1024, 0, cudaErrorLaunchOutOfResources},
    {"all shared memory of a processor", limited, 1, 128, 99 << 10, cudaSuccess, 99 << 10},
    {"more than it has", limited, 1, 128, 100 << 10, cudaErrorInvalidValue, 100 << 10},
};

int wrong = 0;

void expect(const char* what, const char* row, cudaError_t found, cudaError_t expected) {
  if (found == expected) return;
  ++wrong;
  std::printf("%s, %s: %s, not %s\n", row, what, cudaGetErrorName(found),
              cudaGetErrorName(expected));
}

// launch() is what the launch itself returns; the error is taken.
cudaError_t launch(const Row& row, int* data) {
  if (row.most_shared_bytes >= 0) {
    cudaFuncSetAttribute(row.kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                         row.most_shared_bytes);
  }
  int n = elements, add = 1;
  void* arguments[] = {&data, &n, &add};
  cudaLaunchKernel(reinterpret_cast<const void*>(row.kernel), row.grid, row.block, arguments,
                   row.shared_bytes, nullptr);
  return cudaGetLastError();
}

cudaError_t in_a_graph(const Row& row, int* data) {
  int n = elements, add = 1;
  void* arguments[] = {&data, &n, &add};
  cudaKernelNodeParams node = {};
  node.func = reinterpret_cast<void*>(row.kernel);
  node.gridDim = row.grid;
  node.blockDim = row.block;
  node.sharedMemBytes = unsigned(row.shared_bytes);
  node.kernelParams = arguments;
  cudaGraph_t graph;
  cudaGraphCreate(&graph, 0);
  cudaGraphNode_t made;
  cudaGraphExec_t executable;
  cudaError_t error = cudaGraphAddKernelNode(&made, graph, nullptr, 0, &node);
  if (error == cudaSuccess) error = cudaGraphInstantiate(&executable, graph, 0);
  cudaGraphDestroy(graph);
  cudaGetLastError();
  return error;
}

// check() launches what a row says plainly, behind work that runs, and again; `value` is what the
// usual launches before and after each leave in the last element.
void check(const Row& row, int* data, int* busy, unsigned& value) {
  const Row usual = {"a usual launch", step, elements / 128, 128, 0, cudaSuccess};
  for (const char* when : {"plain", "held back", "again"}) {
    if (*when == 'h') work<<<1, 1>>>(busy, 20'000'000);
    expect(when, usual.name, launch(usual, data), cudaSuccess);
    expect(when, row.name, launch(row, data), row.expected);
    value = value * 3 + 1;
    if (*when == 'p') cudaDeviceSynchronize();
  }
  // Which of a graph's calls refuses, and with what, differs between versions of CUDA.
  const bool is_refused = in_a_graph(row, data) != cudaSuccess;
  if (is_refused != (row.expected != cudaSuccess)) {
    ++wrong;
    std::printf("%s, in a graph: %s\n", row.name, is_refused ? "refused" : "accepted");
  }
  expect("at the end", row.name, cudaDeviceSynchronize(), cudaSuccess);
}

int main(int argc, char** argv) {
  const bool is_gpu = argc > 1 && std::strcmp(argv[1], "gpu") == 0;
  int *data, *busy;
  cudaMalloc(&data, elements * sizeof(int));
  cudaMalloc(&busy, sizeof(int));
  cudaMemset(data, 0, elements * sizeof(int));
  cudaMemset(busy, 0, sizeof(int));
  unsigned value = 0;
  for (const Row& row : rows)
    check(row, data, busy, value);
  for (const Row& row : rows_of_a_gpu) {
    if (is_gpu) check(row, data, busy, value);
  }
  unsigned last = 0;
  cudaMemcpy(&last, data + elements - 1, sizeof last, cudaMemcpyDeviceToHost);
  if (last != value) {
    ++wrong;
    std::printf("the last element is %u, not %u\n", last, value);
  }
  std::printf("%d wrong\n", wrong);
}
