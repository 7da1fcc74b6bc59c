// A maximal independent set: a vertex is in it where no neighbour of a higher priority is. Each
// thread waits until all such neighbours of its vertex have decided, or one is in.
#include <algorithm>

#include "waits.hpp"

constexpr int undecided = 0, in = 1, out = 2;

__host__ __device__ unsigned priority(int v) {
  return v * 2246822519U;
}
__host__ __device__ bool goes_first(int a, int b) {
  return priority(a) != priority(b) ? priority(a) > priority(b) : a > b;
}

// The state that a vertex takes, as far as its neighbours have decided.
__device__ __noinline__ int decide(int v, const int* first, const int* adjacent, int* state) {
  int decided = in;
  for (int i = first[v]; i < first[v + 1]; ++i) {
    const int other = adjacent[i];
    if (!goes_first(other, v)) continue;
    const int seen = atomicAdd(&state[other], 0);
    if (seen == in) return out;
    if (seen == undecided) decided = undecided;
  }
  return decided;
}

__global__ void choose(const int* first, const int* adjacent, int* state, int vertices) {
  for (int v = blockIdx.x * blockDim.x + threadIdx.x; v < vertices; v += gridDim.x * blockDim.x) {
    bool again = true;
    while (again) {
      const int decided = decide(v, first, adjacent, state);
      if (decided != undecided) {
        atomicExch(&state[v], decided);
        again = false;
      }
    }
  }
}

int main() {
  int wrong = 0;
  for (const int threads : {32, 128}) {
    const int blocks = most_blocks(choose, threads);
    const int vertices = blocks * threads;
    const Graph graph = random_graph(vertices, 3 * vertices);
    DeviceArray<int> first(graph.first), adjacent(graph.adjacent), state(vertices, undecided);
    choose<<<blocks, threads>>>(first.data(), adjacent.data(), state.data(), vertices);
    const std::vector<int> found = state.host();
    for (int v = 0; v < vertices; ++v) {
      bool has_better = false;
      for (int i = graph.first[v]; i < graph.first[v + 1]; ++i)
        has_better |= goes_first(graph.adjacent[i], v) && found[graph.adjacent[i]] == in;
      wrong += found[v] != (has_better ? out : in);
    }
  }
  return finish(wrong);
}
