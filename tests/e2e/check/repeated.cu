// Launches with the same arguments as others before, which were right, and their right twins.
#include <vector>

#include "seeded.hpp"

constexpr int count = 96;

static void fill_list(int* list, int last) {
  std::vector<int> values(count);
  for (int i = 0; i < count; ++i)
    values[i] = i == count - 1 ? last : i;
  cudaMemcpy(list, values.data(), count * sizeof(int), cudaMemcpyHostToDevice);
}

__global__ void add_one(float* out, const float* in, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = in[i] + 1;  // add-one
}

// What was written is no more: a copy hands on what nobody has written.
static void handed_on(bool is_right) {
  float *in = zeros<float>(count), *out = device_array<float>(count);
  float* other = is_right ? zeros<float>(count) : device_array<float>(count);
  for (int i = 0; i < 3; ++i)
    add_one<<<3, 32>>>(out, in, count);
  cudaMemcpy(in + 40, other, 20 * sizeof(float), cudaMemcpyDeviceToDevice);
  add_one<<<3, 32>>>(out, in, count);
}

// The first of the launches that are alike has written what the second reads.
static void written_by_itself(bool is_right) {
  float *in = zeros<float>(count), *out = device_array<float>(2 * count);
  for (int i = 0; i < 3; ++i)
    add_one<<<3, 32>>>(out, in, count);
  add_one<<<3, 32>>>(in, out + (is_right ? 0 : 1), count);
}

static void freed(bool is_right) {
  float *in = zeros<float>(count), *out = nullptr;
  cudaMallocAsync(&out, count * sizeof(float), nullptr);
  for (int i = 0; i < 3; ++i)
    add_one<<<3, 32>>>(out, in, count);
  if (!is_right) cudaFreeAsync(out, nullptr);
  add_one<<<3, 32>>>(out, in, count);
  if (is_right) cudaFreeAsync(out, nullptr);
}

__global__ void pick(float* out, const float* in, const int* list) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  out[i] = in[list[i]];  // pick
}

// The arguments are the same, the list is not.
static void other_list(bool is_right) {
  float *in = zeros<float>(count), *out = device_array<float>(count);
  int* list = device_array<int>(count);
  fill_list(list, 0);
  for (int i = 0; i < 3; ++i)
    pick<<<3, 32>>>(out, in, list);
  fill_list(list, is_right ? count - 1 : count);
  pick<<<3, 32>>>(out, in, list);
}

__constant__ int shift;
__global__ void move_on(float* out, const float* in) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < count - 1) out[i] = in[i + shift];  // move-on
}

static void other_constant(bool is_right) {
  float *in = zeros<float>(count), *out = device_array<float>(count);
  int by = 1;
  cudaMemcpyToSymbol(shift, &by, sizeof by);
  for (int i = 0; i < 3; ++i)
    move_on<<<3, 32>>>(out, in);
  by = is_right ? 0 : 2;
  cudaMemcpyToSymbol(shift, &by, sizeof by);
  move_on<<<3, 32>>>(out, in);
}

// A store of what is there already races with nobody: that depends on what is there.
__global__ void tell_all(int* told, int* heard) {
  int i = threadIdx.x;
  if (i == 70) told[0] = 1;  // tell-all
  if (i < 64) heard[i] = told[0];
}

static void other_value(bool is_right) {
  int *told = zeros<int>(1), *heard = device_array<int>(64), one = 1;
  cudaMemcpy(told, &one, sizeof one, cudaMemcpyHostToDevice);
  for (int i = 0; i < 3; ++i)
    tell_all<<<1, 96>>>(told, heard);
  if (!is_right) cudaMemset(told, 0, sizeof(int));
  tell_all<<<1, 96>>>(told, heard);
}

// Whether the threads meet is data.
__global__ void turn_round(float* a, const int* meets) {
  __shared__ float kept[96];
  int i = threadIdx.x;
  kept[i] = a[i];  // turn-round
  if (*meets != 0) __syncthreads();
  a[i] = kept[95 - i];
}

static void other_way(bool is_right) {
  float* a = zeros<float>(96);
  int *meets = zeros<int>(1), one = 1;
  cudaMemcpy(meets, &one, sizeof one, cudaMemcpyHostToDevice);
  for (int i = 0; i < 3; ++i)
    turn_round<<<1, 96>>>(a, meets);
  if (!is_right) cudaMemset(meets, 0, sizeof(int));
  turn_round<<<1, 96>>>(a, meets);
}

// Of the same arguments but one.
__global__ void reverse_part(float* a, int n) {
  extern __shared__ float part[];
  int i = threadIdx.x;
  if (i < n) part[i] = a[i];  // reverse-part
  __syncthreads();
  if (i > 0 && i < n) a[i] = part[n - 1 - i];
}

static void less_shared(bool is_right) {
  float* a = zeros<float>(count);
  for (int i = 0; i < 3; ++i)
    reverse_part<<<1, 96, 96 * sizeof(float)>>>(a, count);
  reverse_part<<<1, 96, (is_right ? 96 : 95) * sizeof(float)>>>(a, count);
}

// A graph has the host's function run as often as it is launched.
static void captured_function(bool) {
  float *in = zeros<float>(count), *out = device_array<float>(count);
  cudaStream_t stream = nullptr;
  cudaGraph_t graph = nullptr;
  cudaGraphExec_t exec = nullptr;
  int calls = 0;
  cudaStreamCreate(&stream);
  cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal);
  add_one<<<3, 32, 0, stream>>>(out, in, count);
  cudaLaunchHostFunc(stream, [](void* data) { ++*static_cast<int*>(data); }, &calls);
  cudaStreamEndCapture(stream, &graph);
  cudaGraphInstantiate(&exec, graph, 0);
  for (int i = 0; i < 5; ++i)
    cudaGraphLaunch(exec, stream);
  cudaStreamSynchronize(stream);
  if (calls != 5) std::printf("called %d times\n", calls);
}

int main(int argc, char** argv) {
  const SeededCase cases[] = {{"handed-on", handed_on},
                              {"written-by-itself", written_by_itself},
                              {"freed", freed},
                              {"other-list", other_list},
                              {"other-constant", other_constant},
                              {"other-value", other_value},
                              {"other-way", other_way},
                              {"less-shared", less_shared},
                              {"captured-function", captured_function}};
  return run_case(cases, argc, argv);
}
