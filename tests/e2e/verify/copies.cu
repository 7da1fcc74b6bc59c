// Programs that copy to the host in different ways, for `sluice verify`. copies MODE
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <thread>
#include <vector>

#include <unistd.h>

namespace {

constexpr int n = 1 << 14;
constexpr int block = 256;

void check(cudaError_t error) {
  if (error == cudaSuccess) return;
  std::fprintf(stderr, "copies: %s\n", cudaGetErrorString(error));
  std::exit(1);
}

__global__ void fill(int* values, int from) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  values[i] = from + i;
}

__global__ void twice(const int* in, int* out) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  out[i] = 2 * in[i];
}

struct Arrays {
  int *a = nullptr, *b = nullptr;
  std::vector<int> host = std::vector<int>(n);
  Arrays() {
    check(cudaMalloc(&a, n * sizeof(int)));
    check(cudaMalloc(&b, n * sizeof(int)));
  }
  void compute(int from, cudaStream_t stream = nullptr) {
    fill<<<n / block, block, 0, stream>>>(a, from);
    twice<<<n / block, block, 0, stream>>>(a, b);
  }
  void copy() { check(cudaMemcpy(host.data(), b, n * sizeof(int), cudaMemcpyDeviceToHost)); }
};

void use_streams(int from) {
  cudaStream_t streams[2];
  Arrays arrays[2];
  for (int i = 0; i < 2; ++i) {
    check(cudaStreamCreate(&streams[i]));
    check(cudaHostRegister(arrays[i].host.data(), n * sizeof(int), 0));
  }
  for (int round = 0; round < 4; ++round) {
    for (int i = 0; i < 2; ++i) {
      arrays[i].compute(from + 100 * i + round, streams[i]);
      check(cudaMemcpyAsync(arrays[i].host.data(), arrays[i].b, n * sizeof(int),
                            cudaMemcpyDeviceToHost, streams[i]));
    }
  }
  for (cudaStream_t stream : streams)
    check(cudaStreamSynchronize(stream));
  std::printf("last %d %d\n", arrays[0].host[n - 1], arrays[1].host[n - 1]);
}

// More than a stream holds before its callers wait, between launches that Sluice holds back.
void fill_a_stream() {
  Arrays arrays;
  check(cudaHostRegister(arrays.host.data(), n * sizeof(int), 0));
  for (int round = 0; round < 1500; ++round) {
    if (round % 100 == 0) arrays.compute(round);
    check(cudaMemcpyAsync(arrays.host.data() + round, arrays.b + round, sizeof(int),
                          cudaMemcpyDeviceToHost));
  }
  check(cudaDeviceSynchronize());
}

void use_threads() {
  const auto work = [](int from) {
    Arrays arrays;
    for (int round = 0; round < 4; ++round) {
      arrays.compute(from + round);
      arrays.copy();
    }
  };
  std::thread one(work, 0), other(work, 1000);
  one.join();
  other.join();
}

// A matrix of 64 columns of which 40 are copied, and a box.
void use_boxes() {
  Arrays arrays;
  arrays.compute(3);
  constexpr size_t row = 64 * sizeof(int);
  check(cudaMemcpy2D(arrays.host.data(), row, arrays.b, row, 40 * sizeof(int), n / 64,
                     cudaMemcpyDeviceToHost));
  cudaMemcpy3DParms box = {};
  box.srcPtr = make_cudaPitchedPtr(arrays.b, row, 64, 16);
  box.dstPtr = make_cudaPitchedPtr(arrays.host.data(), row, 64, 16);
  box.srcPos = make_cudaPos(4, 2, 1);
  box.extent = make_cudaExtent(32, 8, 4);
  box.kind = cudaMemcpyDeviceToHost;
  check(cudaMemcpy3D(&box));
}

}  // namespace

int main(int argc, char** argv) {
  const std::string mode = argc > 1 ? argv[1] : "";
  if (mode == "streams") {
    use_streams(0);
  } else if (mode == "many") {
    fill_a_stream();
  } else if (mode == "threads") {
    use_threads();
  } else if (mode == "boxes") {
    use_boxes();
  } else if (mode == "nothing") {
    Arrays arrays;
    arrays.compute(0);
    check(cudaDeviceSynchronize());
  } else if (mode == "host") {
    Arrays arrays;  // no launch at all
    arrays.copy();
  } else if (mode == "changing") {
    Arrays arrays;
    arrays.compute(0);
    arrays.copy();
    arrays.compute(getpid());
    arrays.copy();
  } else if (mode == "managed") {
    int* values = nullptr;
    check(cudaMallocManaged(&values, n * sizeof(int)));
    fill<<<n / block, block>>>(values, 7);
    check(cudaDeviceSynchronize());
    std::printf("%d\n", values[1]);
  } else if (mode == "exits") {
    Arrays arrays;
    arrays.compute(0);
    arrays.copy();
    arrays.compute(1);
    std::exit(argc > 2 ? std::atoi(argv[2]) : 0);  // in the midst of its work
  } else {
    return 2;
  }
  return 0;
}
