// Threads that fill streams behind functions of theirs which wait for those very threads. Nothing
// here ever needs more than 1024 operations of one stream at once, which CUDA takes without
// waiting; so none of it may hang.
#include <algorithm>
#include <atomic>
#include <thread>

#include "waits.hpp"

constexpr int launches = 1000, cells = 64;

__global__ void add(int* data, int value) {
  data[blockIdx.x * blockDim.x + threadIdx.x] += value;
}

// Count is how far the program has come; a function of a stream waits until it is far enough.
struct Count {
  std::atomic<int> reached{0};
};
struct Until {
  Count* count;
  int far_enough;
};

static void CUDART_CB wait_until(void* data) {
  const auto* const until = static_cast<const Until*>(data);
  while (until->count->reached < until->far_enough)
    std::this_thread::yield();
}

static void wait_in(cudaStream_t stream, Count& count, int far_enough) {
  cudaLaunchHostFunc(stream, wait_until, new Until{&count, far_enough});
}

static void fill(cudaStream_t stream, DeviceArray<int>& data, int times, Count& count) {
  for (int n = 0; n < times; ++n, ++count.reached)
    add<<<1, cells, 0, stream>>>(data.data(), 1);
}

static int wrong_in(const DeviceArray<int>& data, int expected) {
  const std::vector<int> values = data.host();
  return cells - int(std::count(values.begin(), values.end(), expected));
}

static cudaStream_t make_stream() {
  cudaStream_t stream = nullptr;
  cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
  return stream;
}

// One thread, and four streams that all wait until it has filled the last.
static int many_streams() {
  Count count;
  std::vector<DeviceArray<int>*> all;
  for (int i = 0; i < 4; ++i) {
    all.push_back(new DeviceArray<int>(cells, 0));
    const cudaStream_t stream = make_stream();
    wait_in(stream, count, 4 * launches);
    fill(stream, *all.back(), launches, count);
  }
  cudaDeviceSynchronize();
  int wrong = 0;
  for (const auto* data : all)
    wrong += wrong_in(*data, launches);
  return wrong;
}

// Threads fill their own default streams, each of which waits for all threads.
static int many_threads() {
  Count count;
  std::vector<DeviceArray<int>*> all;
  for (int i = 0; i < 4; ++i)
    all.push_back(new DeviceArray<int>(cells, 0));
  std::vector<std::thread> threads;
  for (DeviceArray<int>* data : all) {
    threads.emplace_back([&count, data] {
      wait_in(cudaStreamPerThread, count, 4 * launches);
      fill(cudaStreamPerThread, *data, launches, count);
      cudaStreamSynchronize(cudaStreamPerThread);
    });
  }
  for (std::thread& thread : threads)
    thread.join();
  int wrong = 0;
  for (const auto* data : all)
    wrong += wrong_in(*data, launches);
  return wrong;
}

// Each of the stream's functions waits for a launch as far ahead as may be.
static int far_ahead() {
  Count count;
  const cudaStream_t stream = make_stream();
  DeviceArray<int> data(cells, 0);
  constexpr int rounds = 20, in_a_round = 250;
  for (int round = 0; round < rounds; ++round) {
    wait_in(stream, count, std::min(round + 4, rounds) * in_a_round);
    fill(stream, data, in_a_round, count);
  }
  cudaDeviceSynchronize();
  return wrong_in(data, rounds * in_a_round);
}

// Launches and copies by turns: no two launches can be held together.
static int with_copies() {
  Count count;
  const cudaStream_t stream = make_stream();
  DeviceArray<int> data(cells, 0), copy(cells, 0);
  wait_in(stream, count, 500);
  for (int n = 0; n < 500; ++n) {
    fill(stream, data, 1, count);
    cudaMemcpyAsync(copy.data(), data.data(), cells * sizeof(int), cudaMemcpyDeviceToDevice,
                    stream);
  }
  cudaDeviceSynchronize();
  return wrong_in(copy, 500);
}

// What a capture takes runs in no stream: there is room for any number.
static int with_a_capture() {
  Count count, recorded;
  const cudaStream_t full = make_stream(), captured = make_stream();
  DeviceArray<int> data(cells, 0), other(cells, 0);
  wait_in(full, count, launches + 1);
  fill(full, data, launches, count);
  cudaStreamBeginCapture(captured, cudaStreamCaptureModeThreadLocal);
  fill(captured, other, 3 * launches, recorded);
  cudaGraph_t graph = nullptr;
  cudaStreamEndCapture(captured, &graph);
  cudaGraphExec_t executable = nullptr;
  cudaGraphInstantiate(&executable, graph, 0);
  cudaGraphLaunch(executable, captured);
  cudaStreamSynchronize(captured);
  ++count.reached;
  cudaDeviceSynchronize();
  return wrong_in(data, launches) + wrong_in(other, 3 * launches);
}

// While one thread waits for room, another one launches and waits for its own stream.
static int beside_a_full_stream() {
  Count count, given, others;
  const cudaStream_t full = make_stream(), stream = make_stream();
  DeviceArray<int> data(cells, 0), other(cells, 0);
  wait_in(full, count, 1);
  std::thread fills([&] { fill(full, data, 5 * launches, given); });
  while (given.reached < launches)
    std::this_thread::yield();
  for (int n = 0; n < 10; ++n) {
    fill(stream, other, launches / 10, others);
    cudaStreamSynchronize(stream);
  }
  count.reached = 1;
  fills.join();
  cudaDeviceSynchronize();
  return wrong_in(data, 5 * launches) + wrong_in(other, launches);
}

int main() {
  return finish(many_streams() + many_threads() + far_ahead() + with_copies() + with_a_capture() +
                beside_a_full_stream());
}
