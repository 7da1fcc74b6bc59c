// CUDA's order of two operations in two streams, for each pair of operations and each pair of kinds
// of streams. The first operation stands behind a kernel that waits for the host. What the
// programming guide orders must come behind it (a result computed from the first one's, an event
// that is not reached); what it does not order must end all the same. With `joined` as argument the
// second stream waits for an event of the first, and all is ordered.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <thread>
#include <vector>

#include <cuda.h>
#include <cuda_runtime.h>

static void check(cudaError_t status, const char* call, int line) {
  if (status == cudaSuccess) return;
  std::printf("line %d: %s: %s\n", line, call, cudaGetErrorString(status));
  std::exit(1);
}
#define CHECK(call) check((call), #call, __LINE__)

constexpr int cells = 1 << 13;
constexpr size_t bytes = cells * sizeof(int);
constexpr int first_byte = 1, second_byte = 2;
constexpr int first_value = 0x01010101, second_value = 0x02020202;

__global__ void wait_for_host(volatile int* gate) {
  while (*gate == 0) {
  }
}
__global__ void write(int* to, int value) {
  to[blockIdx.x * blockDim.x + threadIdx.x] = value;
}
__global__ void read(int* to, const int* from) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  to[i] = from[i];
}

enum Operation { kernel, copy, fill, event, function, word, operations };
const char* const operation_names[] = {"kernel", "copy",          "memset",
                                       "event",  "host function", "value write"};
enum Kind { legacy, per_thread, blocking, non_blocking, kinds };
const char* const kind_names[] = {"legacy", "per-thread", "blocking", "non-blocking"};

// The streams of one place (first or second), by kind.
struct Streams {
  cudaStream_t of[kinds] = {cudaStreamLegacy, cudaStreamPerThread};
  Streams() {
    CHECK(cudaStreamCreate(&of[blocking]));
    CHECK(cudaStreamCreateWithFlags(&of[non_blocking], cudaStreamNonBlocking));
  }
};

struct Arrays {
  int* x = nullptr;     // the first operation writes it
  int* y = nullptr;     // what the second reads of it
  int* ones = nullptr;  // what a first copy reads
};

struct Memory {
  Arrays arrays[2];  // of the device, of the host
  int* beside = nullptr;
  volatile int* gate = nullptr;
  cudaStream_t other = nullptr;
  cudaEvent_t first = nullptr, second = nullptr, join = nullptr;

  Memory() {
    for (int** array : {&arrays[0].x, &arrays[0].y, &arrays[0].ones, &beside})
      CHECK(cudaMalloc(array, bytes));
    for (int** array : {&arrays[1].x, &arrays[1].y, &arrays[1].ones})
      CHECK(cudaMallocHost(array, bytes));
    for (const Arrays& each : arrays)
      CHECK(cudaMemset(each.ones, first_byte, bytes));
    void* flag = nullptr;
    CHECK(cudaHostAlloc(&flag, sizeof(int), cudaHostAllocMapped));
    gate = static_cast<volatile int*>(flag);
    CHECK(cudaStreamCreateWithFlags(&other, cudaStreamNonBlocking));
    for (cudaEvent_t* each : {&first, &second, &join})
      CHECK(cudaEventCreateWithFlags(each, cudaEventDisableTiming));
    CHECK(cudaDeviceSynchronize());
  }
};

struct Case {
  Operation first, second;
  Kind first_kind, second_kind;
  bool is_same_stream;

  bool is_ordered() const {
    if (is_same_stream) return true;
    const auto is_with_legacy = [](Kind one, Kind other) {
      return one == legacy && other != non_blocking;
    };
    return is_with_legacy(first_kind, second_kind) || is_with_legacy(second_kind, first_kind);
  }
};

// write_word() writes the first value, behind a memset of the others.
void write_word(int* to, int byte, int value, cudaStream_t stream) {
  static const auto write_value = [] {
    void* found = nullptr;
    cudaDriverEntryPointQueryResult result;
    CHECK(cudaGetDriverEntryPointByVersion("cuStreamWriteValue32", &found, 12000, cudaEnableDefault,
                                           &result));
    return reinterpret_cast<decltype(&cuStreamWriteValue32)>(found);
  }();
  CHECK(cudaMemsetAsync(to + 1, byte, bytes - sizeof(int), stream));
  const CUresult result =
      write_value(stream, reinterpret_cast<CUdeviceptr>(to), static_cast<cuuint32_t>(value),
                  CU_STREAM_WRITE_VALUE_DEFAULT);
  CHECK(result == CUDA_SUCCESS ? cudaSuccess : cudaErrorUnknown);
}

void run_first(const Case& c, const Memory& memory, const Arrays& arrays, cudaStream_t stream) {
  switch (c.first) {
    case kernel:
      write<<<cells / 128, 128, 0, stream>>>(arrays.x, first_value);
      return;
    case copy:
      return CHECK(cudaMemcpyAsync(arrays.x, arrays.ones, bytes, cudaMemcpyDefault, stream));
    case fill:
      return CHECK(cudaMemsetAsync(arrays.x, first_byte, bytes, stream));
    case event:
      return CHECK(cudaEventRecord(memory.first, stream));
    case word:
      return write_word(arrays.x, first_byte, first_value, stream);
    default:
      CHECK(cudaLaunchHostFunc(
          stream, [](void* to) { std::fill_n(static_cast<int*>(to), cells, first_value); },
          arrays.x));
  }
}

void run_second(const Case& c, const Arrays& arrays, cudaStream_t stream) {
  switch (c.second) {
    case kernel:
      read<<<cells / 128, 128, 0, stream>>>(arrays.y, arrays.x);
      return;
    case copy:
      return CHECK(cudaMemcpyAsync(arrays.y, arrays.x, bytes, cudaMemcpyDefault, stream));
    case fill:
      return CHECK(cudaMemsetAsync(arrays.x, second_byte, bytes, stream));
    case word:
      return write_word(arrays.x, second_byte, second_value, stream);
    case event:
      return;  // memory.second, which is always recorded
    default:
      CHECK(cudaLaunchHostFunc(
          stream,
          [](void* data) {
            const Arrays& of = *static_cast<const Arrays*>(data);
            std::copy_n(of.x, cells, of.y);
          },
          const_cast<Arrays*>(&arrays)));
  }
}

// ends() is whether the event is reached; a failure is told after 20 seconds, and not earlier.
bool ends(cudaEvent_t event) {
  const auto begin = std::chrono::steady_clock::now();
  while (std::chrono::steady_clock::now() - begin < std::chrono::seconds(20)) {
    const cudaError_t state = cudaEventQuery(event);
    if (state == cudaSuccess) return true;
    if (state != cudaErrorNotReady) CHECK(state);
    std::this_thread::yield();
  }
  return false;
}

bool holds(const int* values, int value) {
  std::vector<int> here(cells);
  CHECK(cudaMemcpy(here.data(), values, bytes, cudaMemcpyDefault));
  return std::all_of(here.begin(), here.end(), [=](int each) { return each == value; });
}

// what_is_wrong() is null where nothing is.
const char* what_is_wrong(const Case& c, Memory& memory, const Streams& firsts,
                          const Streams& seconds, bool is_joined, bool in_host_memory) {
  const cudaStream_t one = firsts.of[c.first_kind];
  const cudaStream_t two = (c.is_same_stream ? firsts : seconds).of[c.second_kind];
  const Arrays& arrays = memory.arrays[in_host_memory ? 1 : 0];
  CHECK(cudaMemset(arrays.x, 0, bytes));
  CHECK(cudaMemset(arrays.y, 0, bytes));
  CHECK(cudaDeviceSynchronize());
  *memory.gate = 0;
  wait_for_host<<<1, 1, 0, one>>>(memory.gate);
  // Under Sluice what follows this kernel in its stream is held back.
  write<<<cells / 128, 128, 0, one>>>(memory.beside, 0);
  run_first(c, memory, arrays, one);
  if (is_joined) {
    CHECK(cudaEventRecord(memory.join, one));
    CHECK(cudaStreamWaitEvent(two, memory.join, 0));
  }
  run_second(c, arrays, two);
  CHECK(cudaEventRecord(memory.second, two));
  const bool is_ordered = is_joined || c.is_ordered();
  if (!is_ordered) {
    const bool has_ended = ends(memory.second);
    *memory.gate = 1;
    CHECK(cudaDeviceSynchronize());
    return has_ended ? nullptr : "waits for work that it is not ordered behind";
  }
  // What is ordered behind nothing ends; so would the second operation.
  write<<<1, 128, 0, memory.other>>>(memory.beside, 1);
  CHECK(cudaStreamSynchronize(memory.other));
  const bool is_about_events = c.first == event || c.second == event;
  if (is_about_events && cudaEventQuery(memory.second) != cudaErrorNotReady)
    return "is done before the first";
  *memory.gate = 1;
  if (c.second == event) {
    if (!ends(memory.second)) return "is never reached";
    const bool is_there =
        c.first == event || std::all_of(arrays.x, arrays.x + cells,
                                        [](volatile int& each) { return each == first_value; });
    if (!is_there) return "is reached before the first is done";
  }
  CHECK(cudaStreamSynchronize(two));
  if (c.first == event && cudaEventQuery(memory.first) != cudaSuccess)
    return "is done and the event before it is not reached";
  CHECK(cudaDeviceSynchronize());
  if (c.second == fill || c.second == word)
    return holds(arrays.x, second_value) ? nullptr : "was overwritten";
  if (c.first == event || c.second == event) return nullptr;
  return holds(arrays.y, first_value) ? nullptr : "does not see what the first wrote";
}

int main(int argc, char** argv) {
  const bool is_joined = argc > 1 && std::strcmp(argv[1], "joined") == 0;
  Memory memory;
  const Streams firsts, seconds;
  int cases = 0, wrong = 0;
  const auto run = [&](const Case& c) {
    // A host function, and a host that waits for an event alone, read the host's memory.
    const bool in_host_memory = c.first == function || c.second == function || c.second == event;
    ++cases;
    const char* const what = what_is_wrong(c, memory, firsts, seconds, is_joined, in_host_memory);
    if (what == nullptr) return;
    ++wrong;
    *memory.gate = 1;
    CHECK(cudaDeviceSynchronize());
    std::printf("%s in a %s stream behind %s in %s %s one: %s\n", operation_names[c.second],
                kind_names[c.second_kind], operation_names[c.first],
                c.is_same_stream ? "the same" : "another", kind_names[c.first_kind], what);
  };
  for (int a = 0; a < kinds * kinds * operations * operations; ++a) {
    const auto first = static_cast<Operation>(a % operations);
    const auto second = static_cast<Operation>(a / operations % operations);
    const auto one = static_cast<Kind>(a / operations / operations % kinds);
    const auto two = static_cast<Kind>(a / operations / operations / kinds);
    if (one == two) run({first, second, one, two, true});
    // There is one legacy stream, and one stream of this thread.
    if (one != two || one == blocking || one == non_blocking) run({first, second, one, two, false});
  }
  std::printf("%d cases, %d wrong\n", cases, wrong);
  return wrong != 0;
}
