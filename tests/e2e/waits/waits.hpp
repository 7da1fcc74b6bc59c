// What the programs of this folder share.
#pragma once

#include <cstdint>
#include <cstdio>
#include <vector>

#include <cuda_runtime.h>

// most_blocks() is how many blocks of a kernel the device says it holds at once.
template <class Kernel>
int most_blocks(Kernel kernel, int threads) {
  int per_processor = 0;
  int processors = 0;
  cudaOccupancyMaxActiveBlocksPerMultiprocessor(&per_processor, kernel, threads, 0);
  cudaDeviceGetAttribute(&processors, cudaDevAttrMultiProcessorCount, 0);
  return per_processor * processors;
}

// DeviceArray is a copy of host data on the device.
template <class T>
class DeviceArray {
 public:
  explicit DeviceArray(const std::vector<T>& content) : count_(content.size()) {
    cudaMalloc(&data_, count_ * sizeof(T));
    cudaMemcpy(data_, content.data(), count_ * sizeof(T), cudaMemcpyHostToDevice);
  }
  DeviceArray(size_t count, T value) : DeviceArray(std::vector<T>(count, value)) {}
  DeviceArray(const DeviceArray&) = delete;
  ~DeviceArray() { cudaFree(data_); }

  T* data() { return data_; }
  std::vector<T> host() const {
    std::vector<T> content(count_);
    cudaMemcpy(content.data(), data_, count_ * sizeof(T), cudaMemcpyDeviceToHost);
    return content;
  }

 private:
  size_t count_;
  T* data_ = nullptr;
};

// Random is a row of numbers that is the same each time.
class Random {
 public:
  uint32_t below(uint32_t limit) {
    state_ = state_ * 6364136223846793005U + 1442695040888963407U;
    return static_cast<uint32_t>(state_ >> 33U) % limit;
  }

 private:
  uint64_t state_ = 1;
};

// Graph is an undirected one: the neighbours of v are adjacent[first[v] .. first[v + 1]).
struct Graph {
  std::vector<int> first, adjacent;
  int vertices() const { return static_cast<int>(first.size()) - 1; }
};

inline Graph random_graph(int vertices, int edges) {
  std::vector<std::vector<int>> neighbours(static_cast<size_t>(vertices));
  Random random;
  for (int edge = 0; edge < edges; ++edge) {
    const auto a = random.below(static_cast<uint32_t>(vertices));
    const auto b = random.below(static_cast<uint32_t>(vertices));
    if (a == b) continue;
    neighbours[a].push_back(static_cast<int>(b));
    neighbours[b].push_back(static_cast<int>(a));
  }
  Graph graph;
  for (const std::vector<int>& list : neighbours) {
    graph.first.push_back(static_cast<int>(graph.adjacent.size()));
    graph.adjacent.insert(graph.adjacent.end(), list.begin(), list.end());
  }
  graph.first.push_back(static_cast<int>(graph.adjacent.size()));
  return graph;
}

// finish() prints how many answers were wrong, after everything has run.
inline int finish(int wrong) {
  const cudaError_t error = cudaDeviceSynchronize();
  if (error != cudaSuccess) std::printf("%s\n", cudaGetErrorName(error));
  std::printf("%d wrong\n", wrong);
  return 0;
}
