// Accesses of the host to memory that the device may still use. Sizes are no multiples of blocks.
#include <cstdlib>
#include <vector>

#include "seeded.hpp"

__global__ void squares(int* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = i * i;
}

__global__ void scale(float* out, const float* in, const float* factor, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  out[i] = in[i] * *factor;
}

__global__ void count_odd(int* count, const int* in, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n && in[i] % 2 != 0) atomicAdd(count, 1);
}

__global__ void pick(int* out, const int* in, const int* index, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = in[index[i]];
}

__global__ void announce(int* data, volatile int* flag, int n) {
  for (int i = threadIdx.x; i < n; i += blockDim.x)
    data[i] = i + 1;
  __syncthreads();
  __threadfence_system();
  if (threadIdx.x == 0) *flag = 1;
}

struct Node {
  int value;
  Node* next;
};
__global__ void double_list(Node* head) {
  for (Node* node = head; node != nullptr; node = node->next)
    node->value *= 2;
}

constexpr int count = 3001;

template <class Value>
Value* managed(size_t n) {
  Value* array = nullptr;
  cudaMallocManaged(&array, n * sizeof(Value));
  return array;
}
template <class Value>
Value* pinned(size_t n) {
  Value* array = nullptr;
  cudaMallocHost(&array, n * sizeof(Value));
  return array;
}
cudaStream_t new_stream() {
  cudaStream_t stream = nullptr;
  cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
  return stream;
}
void say(long long value) {
  std::printf("%lld\n", value);
}

void managed_result(bool is_right) {
  int* out = managed<int>(count);
  squares<<<blocks_for(count, 128), 128>>>(out, count);
  if (is_right) cudaDeviceSynchronize();
  say(out[count - 1]);
}

void managed_input(bool is_right) {
  float* in = managed<float>(count);
  float* factor = managed<float>(1);
  float* out = zeros<float>(count);
  for (int i = 0; i < count; ++i)
    in[i] = static_cast<float>(i);
  for (int step = 0; step < 2; ++step) {
    *factor = static_cast<float>(step + 2);
    scale<<<blocks_for(count, 96), 96>>>(out, in, factor, count);
    if (is_right) cudaStreamSynchronize(nullptr);
  }
}

void managed_count(bool is_right) {
  int* in = zeros<int>(count);
  int* odd = managed<int>(1);
  *odd = 0;
  squares<<<blocks_for(count, 128), 128>>>(in, count);
  count_odd<<<blocks_for(count, 128), 128>>>(odd, in, count);
  if (is_right) cudaDeviceSynchronize();
  say(*odd);
}

void indirect(bool is_right) {
  int* index = managed<int>(count);
  int* in = managed<int>(count);
  int* out = zeros<int>(count);
  for (int i = 0; i < count; ++i) {
    index[i] = (i * 7) % (count - 1);  // never the last
    in[i] = i;
  }
  pick<<<blocks_for(count, 64), 64>>>(out, in, index, count);
  in[is_right ? count - 1 : 21] = 0;
}

void list(bool is_right) {
  Node* second = managed<Node>(1);
  Node* first = managed<Node>(1);
  *second = {2, nullptr};
  *first = {1, second};
  double_list<<<1, 1>>>(first);
  if (is_right) cudaDeviceSynchronize();
  say(second->value);
}

void pinned_target(bool is_right) {
  int* out = zeros<int>(count);
  int* host = pinned<int>(count);
  cudaStream_t stream = new_stream();
  cudaStreamSynchronize(nullptr);
  squares<<<blocks_for(count, 128), 128, 0, stream>>>(out, count);
  cudaMemcpyAsync(host, out, count * sizeof(int), cudaMemcpyDeviceToHost, stream);
  if (is_right) cudaStreamSynchronize(stream);
  say(host[count / 2]);
}

void other_stream(bool is_right) {
  int* out = zeros<int>(count);
  int* host = pinned<int>(count);
  cudaStream_t stream = new_stream(), other = new_stream();
  cudaStreamSynchronize(nullptr);
  squares<<<blocks_for(count, 128), 128, 0, stream>>>(out, count);
  cudaMemcpyAsync(host, out, count * sizeof(int), cudaMemcpyDeviceToHost, stream);
  cudaStreamSynchronize(is_right ? stream : other);
  say(host[count / 2]);
}

void early_event(bool is_right) {
  int* out = zeros<int>(count);
  int* host = pinned<int>(count);
  cudaStream_t stream = new_stream();
  cudaEvent_t done;
  cudaEventCreateWithFlags(&done, cudaEventDisableTiming);
  cudaStreamSynchronize(nullptr);
  squares<<<blocks_for(count, 128), 128, 0, stream>>>(out, count);
  if (!is_right) cudaEventRecord(done, stream);
  cudaMemcpyAsync(host, out, count * sizeof(int), cudaMemcpyDeviceToHost, stream);
  if (is_right) cudaEventRecord(done, stream);
  cudaEventSynchronize(done);
  say(host[count - 1]);
}

void reused_source(bool is_right) {
  float* in = device_array<float>(2 * count);
  float* host = pinned<float>(count);
  for (int part = 0; part < 2; ++part) {
    for (int i = 0; i < count; ++i)
      host[i] = static_cast<float>(part + 1);
    cudaMemcpyAsync(in + part * count, host, count * sizeof(float), cudaMemcpyHostToDevice);
    if (is_right) cudaStreamSynchronize(nullptr);
  }
}

void start_copy(int* to, bool is_right) {
  int local[200];
  for (int& x : local)
    x = 7;
  cudaHostRegister(local, sizeof local, 0);
  cudaMemcpyAsync(to, local, sizeof local, cudaMemcpyHostToDevice);
  if (is_right) cudaDeviceSynchronize();
  for (int& x : local)
    x = 8;
  cudaHostUnregister(local);
}
void stack_source(bool is_right) {
  start_copy(device_array<int>(200), is_right);
}

void mapped_result(bool is_right) {
  int *host = nullptr, *device = nullptr;
  cudaHostAlloc(&host, count * sizeof(int), cudaHostAllocMapped);
  cudaHostGetDevicePointer(&device, host, 0);
  squares<<<blocks_for(count, 128), 128>>>(device, count);
  if (is_right) {
    while (cudaStreamQuery(nullptr) == cudaErrorNotReady) {
    }
  }
  say(host[5]);
}

void memset_target(bool is_right) {
  int* out = managed<int>(count);
  cudaMemsetAsync(out, 1, count * sizeof(int));
  if (is_right) cudaStreamSynchronize(nullptr);
  say(out[7]);
}

// The host looks at other words of the memory that a kernel uses, and waits for a flag.
void neighbours(bool) {
  int* out = managed<int>(2 * count);
  squares<<<blocks_for(count, 128), 128>>>(out, count);
  out[count] = 3;
  say(out[2 * count - 1]);
}

void flag(bool) {
  int *data = nullptr, *flag = nullptr;
  cudaHostAlloc(&data, count * sizeof(int), cudaHostAllocMapped);
  cudaHostAlloc(&flag, sizeof(int), cudaHostAllocMapped);
  announce<<<1, 96>>>(data, flag, count);
  while (*static_cast<volatile int*>(flag) == 0) {
  }
  say(data[count - 1]);
}

void pageable(bool) {
  std::vector<float> host(count, 1.F);
  float* in = device_array<float>(count);
  cudaMemcpyAsync(in, host.data(), count * sizeof(float), cudaMemcpyHostToDevice);
  host[0] = 2;
  cudaMemcpyAsync(host.data(), in, count * sizeof(float), cudaMemcpyDeviceToHost);
  say(static_cast<long long>(host[0]));
}

void CUDART_CB note_sum(void* data) {
  int* host = static_cast<int*>(data);
  host[0] = host[1] + host[2];
}
void host_function(bool) {
  int* out = managed<int>(count);
  squares<<<blocks_for(count, 128), 128>>>(out, count);
  cudaLaunchHostFunc(nullptr, note_sum, out);
  cudaStreamSynchronize(nullptr);
  say(out[0]);
}

void freed(bool) {
  int* out = zeros<int>(count);
  int* host = pinned<int>(count);
  cudaMemcpyAsync(host, out, count * sizeof(int), cudaMemcpyDeviceToHost);
  cudaFreeHost(host);  // waits
}

constexpr SeededCase cases[] = {{"managed-result", managed_result},
                                {"managed-input", managed_input},
                                {"managed-count", managed_count},
                                {"indirect", indirect},
                                {"list", list},
                                {"pinned-target", pinned_target},
                                {"other-stream", other_stream},
                                {"early-event", early_event},
                                {"reused-source", reused_source},
                                {"stack-source", stack_source},
                                {"mapped-result", mapped_result},
                                {"memset-target", memset_target},
                                {"neighbours", neighbours},
                                {"flag", flag},
                                {"pageable", pageable},
                                {"host-function", host_function},
                                {"freed", freed}};

int main(int argc, char** argv) {
  return run_case(cases, argc, argv);
}
