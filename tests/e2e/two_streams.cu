// Two streams with an order between them that the command line chooses: "none" is the mistake that
// sluice check is for. The sum is right in every case but "none", where it may be anything.
#include <cstdio>
#include <cstring>
#include <vector>

#include <cuda_runtime.h>

constexpr int count = 4096;

__global__ void produce(int* out) { out[blockIdx.x * blockDim.x + threadIdx.x] = 1; }

__global__ void consume(const int* in, int* out) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  out[i] = in[i] + 1;
}

__global__ void gather(const int* in, const int* index, int* out) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  out[i] = in[index[i] & (count - 1)];
}

static void CUDART_CB set_flag(void* flag) { *static_cast<volatile bool*>(flag) = true; }

static void order_by(const char* how, cudaStream_t first, cudaStream_t second) {
  static cudaEvent_t event;
  if (std::strcmp(how, "event") == 0) {
    cudaEventCreateWithFlags(&event, cudaEventDisableTiming);
    cudaEventRecord(event, first);
    cudaStreamWaitEvent(second, event, 0);
  } else if (std::strcmp(how, "early-event") == 0) {
    // Recorded in the wrong stream: orders nothing.
    cudaEventCreateWithFlags(&event, cudaEventDisableTiming);
    cudaEventRecord(event, second);
    cudaStreamWaitEvent(second, event, 0);
  } else if (std::strcmp(how, "stream") == 0) {
    cudaStreamSynchronize(first);
  } else if (std::strcmp(how, "device") == 0) {
    cudaDeviceSynchronize();
  } else if (std::strcmp(how, "host-event") == 0) {
    cudaEventCreateWithFlags(&event, cudaEventDisableTiming);
    cudaEventRecord(event, first);
    cudaEventSynchronize(event);
  } else if (std::strcmp(how, "query") == 0) {
    while (cudaStreamQuery(first) == cudaErrorNotReady) {
    }
  } else if (std::strcmp(how, "callback") == 0) {
    static volatile bool done = false;
    // Where there is no device nobody would ever set it.
    if (cudaLaunchHostFunc(first, set_flag, const_cast<bool*>(&done)) != cudaSuccess) return;
    while (!done) {
    }
  }
}

int main(int argc, char** argv) {
  const char* how = argc > 1 ? argv[1] : "none";
  const bool is_legacy = std::strcmp(how, "legacy") == 0;
  const bool is_apart = std::strcmp(how, "apart") == 0 || std::strcmp(how, "gather-apart") == 0;
  const bool is_copy = std::strcmp(how, "copy") == 0;
  const bool is_gather = std::strncmp(how, "gather", 6) == 0;
  const bool is_unblocked = std::strcmp(how, "unblocked") == 0;
  int *a, *b, *index;
  cudaMalloc(&a, 2 * count * sizeof(int));
  cudaMalloc(&b, count * sizeof(int));
  cudaMalloc(&index, count * sizeof(int));
  cudaMemset(a, 0, 2 * count * sizeof(int));
  cudaMemset(index, 0, count * sizeof(int));
  cudaStream_t first, second;
  cudaStreamCreateWithFlags(&first, cudaStreamNonBlocking);
  cudaStreamCreateWithFlags(&second, is_unblocked ? cudaStreamNonBlocking : cudaStreamDefault);
  cudaStream_t producer = is_legacy || is_unblocked ? nullptr : first;
  produce<<<count / 256, 256, 0, producer>>>(a);
  order_by(how, first, second);
  std::vector<int> host(count);
  if (is_copy) {
    cudaMemcpyAsync(host.data(), a, count * sizeof(int), cudaMemcpyDeviceToHost, second);
  } else if (is_gather) {
    gather<<<count / 256, 256, 0, second>>>(is_apart ? a + count : a, index, b);
  } else {
    consume<<<count / 256, 256, 0, second>>>(is_apart ? a + count : a, b);
  }
  cudaDeviceSynchronize();
  if (!is_copy) cudaMemcpy(host.data(), b, count * sizeof(int), cudaMemcpyDeviceToHost);
  long sum = 0;
  for (int value : host) sum += value;
  std::printf("%s: sum %ld\n", how, sum);
  return 0;
}
