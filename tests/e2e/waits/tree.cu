// The two passes over a tree of Burtscher and Pingali's n-body code, on a binary heap: a node's
// weight needs those of its children (bottom up), and its place in the order its parent's (top
// down). Blocks with low numbers have the nodes that wait longest.
#include "waits.hpp"

__device__ int place() {
  return (gridDim.x - 1 - blockIdx.x) * blockDim.x + threadIdx.x;
}

// A child that is not there weighs nothing.
__global__ void summarise(volatile int* weight, int nodes) {
  const int step = gridDim.x * blockDim.x;
  int node = nodes - 1 - place();
  int missing = 0;
  int children[2];
  int sum = 0;
  while (node >= 0) {
    if (missing == 0) {
      sum = 1;
      for (int i = 0; i < 2; ++i) {
        const int child = 2 * node + 1 + i;
        if (child >= nodes) continue;
        children[missing] = child;
        ++missing;
        const int seen = weight[child];
        if (seen >= 0) {
          --missing;
          sum += seen;
        }
      }
    }
    if (missing != 0) {
      int seen;
      do {
        seen = weight[children[missing - 1]];
        if (seen >= 0) {
          --missing;
          sum += seen;
        }
      } while (seen >= 0 && missing != 0);
    }
    if (missing == 0) {
      __threadfence();
      weight[node] = sum;
      node -= step;
    }
  }
}

__global__ void sort_down(volatile int* start, const int* weight, int* order, int nodes) {
  const int step = gridDim.x * blockDim.x;
  int node = (gridDim.x - 1 - blockIdx.x) * blockDim.x + threadIdx.x;
  while (node < nodes) {
    const int begin = start[node];
    if (begin >= 0) {
      order[begin] = node;
      const int left = 2 * node + 1;
      if (left < nodes) start[left] = begin + 1;
      if (left + 1 < nodes) start[left + 1] = begin + 1 + weight[left];
      node += step;
    }
  }
}

static int weigh(int node, int nodes, std::vector<int>& weights, std::vector<int>& order) {
  if (node >= nodes) return 0;
  order.push_back(node);
  int sum = 1;
  for (int child = 2 * node + 1; child <= 2 * node + 2; ++child)
    sum += weigh(child, nodes, weights, order);
  return weights[node] = sum;
}

int main() {
  int wrong = 0;
  for (const int threads : {32, 64, 512}) {
    const int blocks = most_blocks(summarise, threads);
    const int nodes = 3 * blocks * threads + 17;
    DeviceArray<int> weight(nodes, -1), order(nodes, -1);
    std::vector<int> starts(nodes, -1);
    starts[0] = 0;
    DeviceArray<int> start(starts);
    summarise<<<blocks, threads>>>(weight.data(), nodes);
    sort_down<<<blocks, threads>>>(start.data(), weight.data(), order.data(), nodes);
    std::vector<int> weights(nodes), orders;
    weigh(0, nodes, weights, orders);
    wrong += weight.host() != weights;
    wrong += order.host() != orders;
  }
  return finish(wrong);
}
