// Votes, matches and lanes of a warp.
extern "C" __global__ void warp_votes(const unsigned* in, unsigned* out) {
  unsigned lane = threadIdx.x & 31;
  unsigned value = in[threadIdx.x];
  unsigned mask = __ballot_sync(0xffffffff, value > 3);
  int all = 0;
  unsigned same = __match_any_sync(0xffffffff, value) + __match_all_sync(0xffffffff, value, &all);
  unsigned result = __popc(mask) + same + all + __any_sync(mask, value & 1);
  __syncwarp(mask);
  result += __activemask() + __fns(mask, 0, 2) + __ffs(value) + __byte_perm(value, lane, 0x3210);
  out[threadIdx.x] = result + __syncthreads_count(value > lane) + __funnelshift_l(value, lane, 5);
}
