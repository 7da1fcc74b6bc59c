// Lanes that end while others of their warp still exchange values. Each kernel writes one number
// for each element whose thread lives long enough; no number depends on what a lane that has ended
// held.
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>

namespace cg = cooperative_groups;

static constexpr unsigned all_lanes = 0xffffffffU;

static __device__ int element() {
  return static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
}

// The classic: threads beyond the data end, the others name all lanes.
extern "C" __global__ void end_beyond_data(const int* in, int* out, int n) {
  const int i = element();
  if (i >= n) return;
  const unsigned odd = __ballot_sync(all_lanes, in[i] & 1);
  const int first = __shfl_sync(all_lanes, in[i], 0);
  out[i] = __popc(odd) * 1000 + first + __any_sync(all_lanes, in[i] > 90);
}

// Lanes leave one by one, and those that stay name all lanes in each turn.
extern "C" __global__ void end_turn_by_turn(const int* in, int* out, int n) {
  const int i = element();
  int sum = 0;
  for (int turn = 0; turn <= in[i % n] % 9; ++turn) {
    sum = sum * 3 + __popc(__ballot_sync(all_lanes, (in[i % n] >> turn) & 1));
    out[i] = sum;
  }
}

// Half a warp exchanges under its own mask and ends; the other half names all lanes meanwhile.
extern "C" __global__ void end_after_half(const int* in, int* out, int n) {
  const int i = element();
  int value = in[i % n];
  if (threadIdx.x % 32 < 16) {
    for (int step = 8; step > 0; step /= 2)
      value += __shfl_xor_sync(0xffffU, value, step);
    out[i] = value;
    return;
  }
  out[i] = __popc(__ballot_sync(all_lanes, value & 2)) * 100 +
           __popc(__match_any_sync(all_lanes, value % 4));
}

// Barriers of the block, of the warp, and shared memory, past threads that have ended.
extern "C" __global__ void end_between_barriers(const int* in, int* out, int n) {
  __shared__ int row[1024];
  const int i = element();
  const int lane = static_cast<int>(threadIdx.x % 32);
  row[threadIdx.x] = in[i % n];
  if (in[i % n] % 5 == 0) return;
  __syncthreads();
  const unsigned left = __ballot_sync(all_lanes, true);
  if (lane == __ffs(static_cast<int>(left)) - 1) row[threadIdx.x - lane] = __popc(left);
  __syncwarp();
  const int count = row[threadIdx.x - lane];
  __syncwarp();
  if (in[i % n] % 3 == 0) return;
  row[threadIdx.x] = count;
  __syncthreads();
  out[i] = count * 100 + row[(threadIdx.x + blockDim.x / 2) % blockDim.x];
}

// Groups of those who are here, and tiles, as cooperative groups make them.
extern "C" __global__ void end_before_groups(const int* in, int* out, int n) {
  const int i = element();
  const int value = in[i % n];
  if (value % 7 == 0) return;
  if (value % 2 == 0) {
    const cg::coalesced_group here = cg::coalesced_threads();
    out[i] = here.num_threads() * 1000 + cg::reduce(here, value, cg::plus<int>());
  }
  if (threadIdx.x % 32 >= 24) return;
  const auto tile = cg::tiled_partition<4>(cg::this_thread_block());
  if (tile.any(value % 2 != 0) && value % 2 != 0) out[i] = tile.ballot(value > 40);
}

// Those who vote for it go on alone, by the mask of their vote.
extern "C" __global__ void end_after_ballot(const int* in, int* out, int n) {
  const int i = element();
  int value = in[i % n];
  const unsigned mask = __ballot_sync(all_lanes, value > 30);
  if (value <= 30) return;
  for (int turn = 0; turn < n % 4; ++turn)
    value += __shfl_sync(mask, value, __ffs(mask) - 1);
  if (value % 3 == 0) return;
  out[i] = value + __popc(__ballot_sync(mask, value & 4));
}

static __device__ __noinline__ int count_odd(int value, bool takes_part) {
  if (!takes_part) return -1;
  return __popc(__ballot_sync(all_lanes, value & 1));
}

// The exchange stands in a called function, from which some lanes return to end.
extern "C" __global__ void end_behind_call(const int* in, int* out, int n) {
  const int i = element();
  const int odd = count_odd(in[i % n], in[i % n] % 4 != 0);
  if (odd < 0) return;
  out[i] = odd;
}
