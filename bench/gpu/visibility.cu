// Probe 7: whether data that another block has just released is ever read old.
#include <algorithm>
#include <cmath>
#include <cstdio>

#include "device.cuh"
#include "probes.hpp"
#include "ptx.cuh"
#include "report/recorder.hpp"

namespace sluice::gpu_probe {
namespace {

constexpr int threads = 128;
constexpr double hand_offs = 1e8;

// How the consumer's threads read.
enum class Load { plain, plain128, nc, nc128 };

struct Words {
  unsigned x, y, z, w;
};

// How many of the four words a load brings.
template <Load kind>
constexpr int words_of = kind == Load::plain128 || kind == Load::nc128 ? 4 : 1;

// Volatile and with a memory clobber, so that the compiler neither merges the reads of two rounds
// nor moves them over a barrier: whatever is stale is the hardware's doing.
template <Load kind>
__device__ Words load(const Words* from) {
  Words got = {};
  const std::size_t at = __cvta_generic_to_global(from);
  if constexpr (kind == Load::plain) {
    asm volatile("ld.global.u32 %0, [%1];" : "=r"(got.x) : "l"(at) : "memory");
  } else if constexpr (kind == Load::nc) {
    asm volatile("ld.global.nc.u32 %0, [%1];" : "=r"(got.x) : "l"(at) : "memory");
  } else if constexpr (kind == Load::plain128) {
    asm volatile("ld.global.v4.u32 {%0, %1, %2, %3}, [%4];"
                 : "=r"(got.x), "=r"(got.y), "=r"(got.z), "=r"(got.w)
                 : "l"(at)
                 : "memory");
  } else {
    asm volatile("ld.global.nc.v4.u32 {%0, %1, %2, %3}, [%4];"
                 : "=r"(got.x), "=r"(got.y), "=r"(got.z), "=r"(got.w)
                 : "l"(at)
                 : "memory");
  }
  return got;
}

// A pair's words: two slots of data, so that a slot's address changes from round to round (a
// compiler that took .nc at its word could otherwise keep the first value), and two flags.
struct Pairs {
  Words* data;      // per pair 2 slots of `threads` entries
  unsigned* ready;  // per pair, a line each: the round whose data is there
  unsigned* taken;  // per pair, a line each: the round that has been read
  unsigned* sm_of;  // per block
  unsigned* failed;
  unsigned long long* stale;  // reads that gave an older round
  unsigned long long* newer;  // reads that gave a newer round, which the protocol excludes
};

constexpr unsigned line_words = 32;

// Polls like wait_until_at_least(), but orders nothing.
__device__ bool wait_relaxed(const unsigned* flag, unsigned value) {
  for (unsigned spin = 0; spin < spin_limit; ++spin) {
    if (load_relaxed(flag) >= value) {
      return true;
    }
  }
  return false;
}

// Thread 0 waits, the block learns whether it worked. The barrier is the one that the protocol
// needs between the thread that acquires and those that read.
template <bool acquire>
__device__ bool block_wait(const unsigned* flag, unsigned round, unsigned* failed) {
  bool met = true;
  if (threadIdx.x == 0) {
    met = acquire ? wait_until_at_least(flag, round) : wait_relaxed(flag, round);
    if (!met) {
      atomicExch(failed, 1u);
    }
  }
  return __syncthreads_and(met) != 0;
}

__device__ void produce(const Pairs& pairs, unsigned pair, unsigned rounds) {
  Words* const data = pairs.data + std::size_t{pair} * 2 * threads;
  for (unsigned round = 1; round <= rounds; ++round) {
    if (!block_wait<true>(&pairs.taken[pair * line_words], round - 1, pairs.failed)) {
      return;
    }
    data[round % 2 * threads + threadIdx.x] = {round, round, round, round};
    __syncthreads();
    if (threadIdx.x == 0) {
      store_release(&pairs.ready[pair * line_words], round);
    }
  }
}

template <Load kind, bool acquire>
__device__ void consume(const Pairs& pairs, unsigned pair, unsigned rounds) {
  const Words* const data = pairs.data + std::size_t{pair} * 2 * threads;
  // Written by another warp than the one of the same number here.
  const unsigned entry = (threadIdx.x + 33) % threads;
  unsigned long long stale = 0;
  unsigned long long newer = 0;
  for (unsigned round = 1; round <= rounds; ++round) {
    if (!block_wait<acquire>(&pairs.ready[pair * line_words], round, pairs.failed)) {
      break;
    }
    const Words got = load<kind>(&data[round % 2 * threads + entry]);
    const unsigned words[4] = {got.x, got.y, got.z, got.w};
#pragma unroll
    for (int i = 0; i < words_of<kind>; ++i) {
      stale += words[i] < round ? 1 : 0;
      newer += words[i] > round ? 1 : 0;
    }
    // The next round's lines are brought into the L1 while their data is still old, and before the
    // producer may write them: it waits for the flag below.
    load<kind>(&data[(round + 1) % 2 * threads + entry]);
    __syncthreads();
    if (threadIdx.x == 0) {
      store_release(&pairs.taken[pair * line_words], round);
    }
  }
  atomicAdd(pairs.stale, stale);
  atomicAdd(pairs.newer, newer);
}

// Even blocks produce for the odd one after them.
template <Load kind, bool acquire>
__global__ void __launch_bounds__(threads) hand_over(Pairs pairs, unsigned rounds) {
  if (threadIdx.x == 0) {
    pairs.sm_of[blockIdx.x] = sm_id();
  }
  if (blockIdx.x % 2 == 0) {
    produce(pairs, blockIdx.x / 2, rounds);
  } else {
    consume<kind, acquire>(pairs, blockIdx.x / 2, rounds);
  }
}

class VisibilityBench {
 public:
  explicit VisibilityBench(unsigned pairs)
      : pairs_(pairs),
        data_(std::size_t{pairs} * 2 * threads),
        flags_(2 * pairs * line_words),
        sm_of_(2 * pairs),
        failed_(1),
        counts_(2),
        stopwatch_(stream_) {}

  // Runs `rounds` hand-offs in every pair, adds up what was read, returns ns a hand-off of a pair.
  template <class Kernel>
  double run(Kernel* kernel, unsigned rounds) {
    data_.clear();
    flags_.clear();
    counts_.clear();
    check(cudaDeviceSynchronize(), "clearing the pairs");
    const Pairs pairs = {data_.get(),      flags_.get(),  flags_.get() + pairs_ * line_words,
                         sm_of_.get(),     failed_.get(), counts_.get(),
                         counts_.get() + 1};
    stopwatch_.start();
    kernel<<<2 * pairs_, threads, 0, stream_.get()>>>(pairs, rounds);
    check(cudaGetLastError(), "launching the hand-over kernel");
    const double time = stopwatch_.stop();
    if (failed_.download()[0] != 0) {
      throw ProbeFailure("a wait for a hand-off ran out: the counts are void");
    }
    const std::vector<unsigned long long> counts = counts_.download();
    if (counts[1] != 0) {
      throw ProbeFailure("data of a later round was read: the probe's own protocol is broken");
    }
    stale_ = counts[0];
    return time * 1000 / rounds;
  }

  unsigned long long stale() const { return stale_; }

  unsigned pairs_on_one_sm() const {
    const std::vector<unsigned> sms = sm_of_.download();
    unsigned same = 0;
    for (std::size_t block = 0; block < sms.size(); block += 2) {
      same += sms[block] == sms[block + 1] ? 1 : 0;
    }
    return same;
  }

 private:
  unsigned pairs_;
  Buffer<Words> data_;
  Buffer<unsigned> flags_;
  Buffer<unsigned> sm_of_;
  Buffer<unsigned> failed_;
  Buffer<unsigned long long> counts_;
  Stream stream_;
  Stopwatch stopwatch_;
  unsigned long long stale_ = 0;
};

template <Load kind, bool acquire>
void record(Recorder& recorder, const std::string& name, unsigned pairs, double total,
            bool must_be_zero) {
  VisibilityBench bench(pairs);
  const auto rounds = static_cast<unsigned>(std::ceil(total / (double{repeats} * pairs)));
  std::vector<double> stale;
  std::vector<double> times = measure([&] {
    const double time = bench.run(hand_over<kind, acquire>, rounds);
    stale.push_back(static_cast<double>(bench.stale()));
    return time;
  });
  double sum = 0;
  for (const double count : stale) {
    sum += count;
  }
  // The warm-ups hand over data like the others; their stale reads count too.
  recorder.row(name, "stale", stale, must_be_zero ? Range{0, 0} : Range{});
  recorder.row(name, "ns/hand-off", times);
  char text[200];
  std::snprintf(
      text, sizeof text,
      "%s: %.0f stale words in %.4g hand-offs to %d threads each; %u of %u pairs on one SM",
      name.c_str(), sum, static_cast<double>(rounds) * pairs * stale.size(), threads,
      bench.pairs_on_one_sm(), pairs);
  recorder.note(text);
  if (must_be_zero && sum != 0) {
    recorder.fail(name + " gave stale data: the megakernel's protocol does not hold here");
  }
}

}  // namespace

void probe_visibility(const Device& device, Recorder& recorder) {
  recorder.begin(
      7, "Visibility",
      "zero stale reads by plain loads, of 32 and of 128 bits: release, acquire and barrier are a "
      "causality order, and an acquire makes the SM drop what its L1 holds. ld.global.nc is "
      "outside "
      "that promise; where it shares the L1 it may well count zero too, which proves nothing for "
      "other GPUs. The control polls with ld.relaxed, which drops nothing: it should see stale "
      "data, "
      "and so shows that the lines were in the L1 and that this probe can see it.");
  const int a_sm = std::min({4, resident_blocks(hand_over<Load::plain, true>, threads),
                             resident_blocks(hand_over<Load::nc128, true>, threads)});
  const unsigned pairs = static_cast<unsigned>(a_sm * device.sm_count) / 2;
  if (pairs == 0) {
    recorder.note("not two blocks fit on this GPU; left out");
    return;
  }
  record<Load::plain, true>(recorder, "ld", pairs, hand_offs, true);
  record<Load::plain128, true>(recorder, "ld.v4", pairs, hand_offs, true);
  record<Load::nc, true>(recorder, "ld.nc", pairs, hand_offs, false);
  record<Load::nc128, true>(recorder, "ld.nc.v4", pairs, hand_offs, false);
  // One block an SM: a neighbour's acquire would drop the lines of the whole SM's L1.
  const unsigned alone = std::max(1u, static_cast<unsigned>(device.sm_count) / 2);
  record<Load::plain, false>(recorder, "control: ld, flag polled relaxed", alone, hand_offs / 100,
                             false);
}

}  // namespace sluice::gpu_probe
