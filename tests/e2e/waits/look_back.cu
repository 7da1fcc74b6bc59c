// A scan with decoupled look-back after Merrill and Garland: a block adds up what the blocks before
// its tile have told of theirs, a whole sum or a prefix. The first block has the last tile. One
// thread looks back in one form, a warp in the other.
#include "waits.hpp"

constexpr unsigned nothing = 0, tile_sum = 1, prefix = 2;

__device__ unsigned long long told(unsigned kind, unsigned value) {
  return (unsigned long long)kind << 32 | value;
}

__device__ unsigned look_back_alone(volatile unsigned long long* status, int tile) {
  unsigned before = 0;
  int at = tile - 1;
  while (at >= 0) {
    const unsigned long long seen = status[at];
    const unsigned kind = seen >> 32;
    if (kind == nothing) continue;
    before += (unsigned)seen;
    if (kind == prefix) break;
    --at;
  }
  return before;
}

__device__ unsigned look_back_as_warp(volatile unsigned long long* status, int tile) {
  unsigned before = 0;
  for (int last = tile - 1;; last -= 32) {
    const int at = last - (int)threadIdx.x;
    unsigned long long seen;
    do {
      seen = at >= 0 ? status[at] : told(prefix, 0);
    } while (__any_sync(0xffffffff, seen >> 32 == nothing));
    const unsigned done = __ballot_sync(0xffffffff, seen >> 32 == prefix);
    const unsigned upto = done == 0 ? 31 : __ffs(done) - 1;
    unsigned part = threadIdx.x <= upto ? (unsigned)seen : 0;
    for (int reach = 16; reach > 0; reach /= 2)
      part += __shfl_xor_sync(0xffffffff, part, reach);
    before += part;
    if (done != 0) return before;
  }
}

template <bool as_warp>
__global__ void scan(const unsigned* values, unsigned* sums, volatile unsigned long long* status) {
  extern __shared__ unsigned own[];
  __shared__ unsigned before;
  const int tile = gridDim.x - 1 - blockIdx.x;
  const int i = tile * blockDim.x + threadIdx.x;
  own[threadIdx.x] = values[i];
  __syncthreads();
  for (int reach = 1; reach < blockDim.x; reach *= 2) {
    const unsigned left = threadIdx.x >= reach ? own[threadIdx.x - reach] : 0;
    __syncthreads();
    own[threadIdx.x] += left;
    __syncthreads();
  }
  const unsigned all = own[blockDim.x - 1];
  if (threadIdx.x == 0) {
    status[tile] = told(tile == 0 ? prefix : tile_sum, all);
    __threadfence();
  }
  if (threadIdx.x < (as_warp ? 32 : 1)) {
    const unsigned sum = as_warp ? look_back_as_warp(status, tile) : look_back_alone(status, tile);
    if (threadIdx.x == 0) {
      before = sum;
      __threadfence();
      status[tile] = told(prefix, sum + all);
    }
  }
  __syncthreads();
  sums[i] = before + own[threadIdx.x];
}

template <bool as_warp>
static int wrong_sums(int threads) {
  const int blocks = most_blocks(scan<as_warp>, threads);
  std::vector<unsigned> content;
  Random random;
  for (int i = 0; i < blocks * threads; ++i)
    content.push_back(random.below(1000));
  DeviceArray<unsigned> values(content), sums(content.size(), 0);
  DeviceArray<unsigned long long> status(blocks, 0);
  scan<as_warp>
      <<<blocks, threads, threads * sizeof(unsigned)>>>(values.data(), sums.data(), status.data());
  const std::vector<unsigned> found = sums.host();
  unsigned sum = 0;
  int wrong = 0;
  for (size_t i = 0; i < content.size(); ++i)
    wrong += found[i] != (sum += content[i]);
  return wrong;
}

int main() {
  int wrong = 0;
  for (const int threads : {32, 256})
    wrong += wrong_sums<false>(threads) + wrong_sums<true>(threads);
  return finish(wrong);
}
