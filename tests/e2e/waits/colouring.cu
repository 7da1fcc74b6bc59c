// Graph colouring after Jones and Plassmann: each vertex waits for the colours of those neighbours
// that have a higher priority, and takes the least that none of them has. In two forms: a thread
// stays with its vertex, or goes round all of its vertices until none is missing.
#include <algorithm>

#include "waits.hpp"

__host__ __device__ unsigned priority(int v) {
  return v * 2654435761U;
}
__host__ __device__ bool goes_first(int a, int b) {
  return priority(a) != priority(b) ? priority(a) > priority(b) : a > b;
}

__device__ int least_free(unsigned long long taken) {
  return __ffsll(~taken) - 1;
}

__global__ void stay(const int* first, const int* adjacent, volatile int* colour) {
  const int v = blockIdx.x * blockDim.x + threadIdx.x;
  unsigned long long taken = 0;
  for (int i = first[v]; i < first[v + 1]; ++i) {
    const int other = adjacent[i];
    if (!goes_first(other, v)) continue;
    int seen;
    while ((seen = colour[other]) < 0) {
    }
    taken |= 1ULL << seen;
  }
  colour[v] = least_free(taken);
}

__global__ void go_round(const int* first, const int* adjacent, volatile int* colour,
                         int vertices) {
  bool missing;
  do {
    missing = false;
    for (int v = blockIdx.x * blockDim.x + threadIdx.x; v < vertices; v += gridDim.x * blockDim.x) {
      if (colour[v] >= 0) continue;
      unsigned long long taken = 0;
      bool ready = true;
      for (int i = first[v]; i < first[v + 1] && ready; ++i) {
        const int other = adjacent[i];
        if (!goes_first(other, v)) continue;
        const int seen = colour[other];
        if (seen < 0) {
          ready = false;
        } else {
          taken |= 1ULL << seen;
        }
      }
      if (ready) {
        colour[v] = least_free(taken);
      } else {
        missing = true;
      }
    }
  } while (missing);
}

static std::vector<int> expected(const Graph& graph) {
  std::vector<int> order, colours(graph.vertices(), -1);
  for (int v = 0; v < graph.vertices(); ++v)
    order.push_back(v);
  std::sort(order.begin(), order.end(), goes_first);
  for (const int v : order) {
    unsigned long long taken = 0;
    for (int i = graph.first[v]; i < graph.first[v + 1]; ++i)
      if (colours[graph.adjacent[i]] >= 0) taken |= 1ULL << colours[graph.adjacent[i]];
    while ((taken >> ++colours[v] & 1) != 0) {
    }
  }
  return colours;
}

static int wrong_colours(int threads, bool stays) {
  const int blocks = stays ? most_blocks(stay, threads) : most_blocks(go_round, threads);
  const Graph graph =
      random_graph(stays ? blocks * threads : 3 * blocks * threads, 4 * blocks * threads);
  DeviceArray<int> first(graph.first), adjacent(graph.adjacent), colours(graph.vertices(), -1);
  if (stays) {
    stay<<<blocks, threads>>>(first.data(), adjacent.data(), colours.data());
  } else {
    go_round<<<blocks, threads>>>(first.data(), adjacent.data(), colours.data(), graph.vertices());
  }
  return colours.host() == expected(graph) ? 0 : 1;
}

int main() {
  int wrong = 0;
  for (const int threads : {32, 96, 256}) {
    wrong += wrong_colours(threads, true);
    wrong += wrong_colours(threads, false);
  }
  return finish(wrong);
}
