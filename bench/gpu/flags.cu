// Probe 3: how long a flag takes from the block that raises it to the block that polls it.
#include <algorithm>

#include "device.cuh"
#include "probes.hpp"
#include "ptx.cuh"
#include "report/recorder.hpp"

namespace sluice::gpu_probe {
namespace {

constexpr unsigned rounds = 500;
constexpr unsigned line_words = 32;
constexpr unsigned all_lanes = 0xFFFFFFFFu;

// How the flags of one case lie and who polls them.
struct FlagCase {
  bool add;          // raised by red.release.gpu.add instead of st.release.gpu
  bool same_sm;      // the answering block sits on the asking block's SM
  unsigned lanes;    // 1: one lane polls one flag; 32: each lane polls its own
  unsigned pollers;  // blocks that poll: the answering one and bystanders
  unsigned stride;   // words between two flags: 1 packed in lines, 32 a line each
  bool one_flag;     // all pollers poll the same flag, else each its own
};

struct FlagWords {
  unsigned* forward;   // flags raised by the asking block
  unsigned* back;      // the answer
  unsigned* arrived;   // blocks that have said where they are
  unsigned* sm_of;     // per block
  unsigned* failed;    // a wait ran out
  unsigned* answerer;  // the answering block, or 0 if there is none
  unsigned long long* nanoseconds;
};

__device__ void raise_flag(unsigned* flag, unsigned round, bool add) {
  if (add) {
    add_release(flag, 1);
  } else {
    store_release(flag, round);
  }
}

// All blocks say where they are and wait for each other (they are all resident), then all choose
// the same answerer: the first block that is, or is not, on block 0's SM. 0 if there is none.
__device__ unsigned choose_answerer(const FlagWords& words, bool same_sm) {
  unsigned answerer = 0;
  if (threadIdx.x == 0) {
    words.sm_of[blockIdx.x] = sm_id();
    add_release(words.arrived, 1);
    if (!wait_until_at_least(words.arrived, gridDim.x)) {
      atomicExch(words.failed, 1u);
    } else {
      for (unsigned block = gridDim.x - 1; block > 0; --block) {
        if ((words.sm_of[block] == words.sm_of[0]) == same_sm) {
          answerer = block;
        }
      }
    }
  }
  return __shfl_sync(all_lanes, answerer, 0);
}

__device__ void ask(const FlagWords& words, const FlagCase& how) {
  const unsigned lane = threadIdx.x;
  const unsigned flags = how.lanes == 32 ? 32 : how.one_flag ? 1 : how.pollers;
  const unsigned long long begin = global_nanoseconds();
  for (unsigned round = 1; round <= rounds; ++round) {
    for (unsigned flag = lane; flag < flags; flag += 32) {
      raise_flag(&words.forward[flag * how.stride], round, how.add);
    }
    // Lane 0 must not start to wait before the other lanes have raised their flags.
    __syncwarp();
    const bool met = lane != 0 || wait_until_at_least(words.back, round);
    if (!__all_sync(all_lanes, met)) {
      if (lane == 0) {
        atomicExch(words.failed, 1u);
      }
      return;
    }
  }
  if (lane == 0) {
    *words.nanoseconds = global_nanoseconds() - begin;
  }
}

__device__ void answer(const FlagWords& words, const FlagCase& how) {
  const unsigned lane = threadIdx.x;
  for (unsigned round = 1; round <= rounds; ++round) {
    const bool met =
        lane >= how.lanes || wait_until_at_least(&words.forward[lane * how.stride], round);
    if (!__all_sync(all_lanes, met)) {
      return;  // the asking block's wait runs out too, and says so
    }
    __syncwarp();
    if (lane == 0) {
      raise_flag(words.back, round, how.add);
    }
  }
}

// One warp a block, so that no block barrier is part of the time.
__global__ void __launch_bounds__(32) ping_pong(FlagWords words, FlagCase how) {
  const unsigned answerer = choose_answerer(words, how.same_sm);
  if (blockIdx.x == 0 && threadIdx.x == 0) {
    *words.answerer = answerer;
  }
  if (answerer == 0) {
    return;
  }
  if (blockIdx.x == 0) {
    ask(words, how);
  } else if (blockIdx.x == answerer) {
    answer(words, how);
  } else if (blockIdx.x > answerer && blockIdx.x < answerer + how.pollers) {
    // A bystander: its polls are the load. It leaves when the last round's flag is up.
    const unsigned flag = how.one_flag ? 0 : blockIdx.x - answerer;
    if (threadIdx.x == 0 && !wait_until_at_least(&words.forward[flag * how.stride], rounds)) {
      atomicExch(words.failed, 1u);
    }
  }
}

class FlagBench {
 public:
  explicit FlagBench(const Device& device)
      : sms_(static_cast<unsigned>(device.sm_count)),
        forward_(std::max(sms_, 32u) * line_words),
        rest_(4 * line_words),
        sm_of_(2 * sms_),
        time_(1) {}

  // One-way times in ns, or none where the GPU placed no block as the case needs it.
  std::vector<double> run(const FlagCase& how) {
    found_ = true;
    std::vector<double> times = measure([&] { return run_once(how); });
    return found_ ? times : std::vector<double>{};
  }

 private:
  double run_once(const FlagCase& how) {
    forward_.clear();
    rest_.clear();
    const FlagWords words = {forward_.get(),
                             rest_.get(),
                             rest_.get() + line_words,
                             sm_of_.get(),
                             rest_.get() + 2 * line_words,
                             rest_.get() + 3 * line_words,
                             time_.get()};
    // With one block an SM all are on different ones; the second per SM shares it with the first.
    const unsigned blocks = how.same_sm ? 2 * sms_ : sms_;
    ping_pong<<<blocks, 32>>>(words, how);
    check(cudaGetLastError(), "launching the flag kernel");
    const std::vector<unsigned> state = rest_.download();
    if (state[2 * line_words] != 0) {
      throw ProbeFailure("a wait for a flag ran out: the figures are void");
    }
    found_ = found_ && state[3 * line_words] != 0;
    return static_cast<double>(time_.download()[0]) / (2.0 * rounds);
  }

  unsigned sms_;
  Buffer<unsigned> forward_;
  Buffer<unsigned> rest_;
  Buffer<unsigned> sm_of_;
  Buffer<unsigned long long> time_;
  bool found_ = true;
};

void record(FlagBench& bench, Recorder& recorder, const std::string& name, const FlagCase& how,
            Range expected) {
  const std::vector<double> times = bench.run(how);
  if (times.empty()) {
    recorder.note(name + ": no block was placed so; left out");
  } else {
    recorder.row(name, "ns one-way", times, expected);
  }
}

void probe_crowds(const Device& device, FlagBench& bench, Recorder& recorder) {
  const auto all = static_cast<unsigned>(device.sm_count) - 1;
  std::vector<unsigned> crowds;
  for (unsigned pollers = 1; pollers < all; pollers *= 4) {
    crowds.push_back(pollers);
  }
  crowds.push_back(all);
  for (const unsigned pollers : crowds) {
    const std::string crowd = std::to_string(pollers) + " SMs poll ";
    record(bench, recorder, crowd + "one flag", {false, false, 1, pollers, 1, true}, {200, 3000});
    record(bench, recorder, crowd + "their own, packed", {false, false, 1, pollers, 1, false},
           {200, 3000});
    record(bench, recorder, crowd + "their own, a line each",
           {false, false, 1, pollers, line_words, false}, {200, 3000});
  }
}

}  // namespace

void probe_flags(const Device& device, Recorder& recorder) {
  recorder.begin(
      3, "Flags",
      "flags live in the L2: ld.acquire.gpu passes the L1 by and st.release.gpu waits for the "
      "thread's earlier writes and travels there. One way is a trip to the L2 (half of its "
      "latency; "
      "273 cycles read for H100), half a poll and the poll's way back, and as much again where a "
      "release must first be told that nothing is in flight: 250 to 900 ns, hardly less on the "
      "same "
      "SM. 32 lanes that poll 32 flags of one line are one request; a line each makes 32. A crowd "
      "that polls queues at one L2 slice if its flags share a line.");
  if (device.sm_count < 2) {
    recorder.note("one SM only; left out");
    return;
  }
  FlagBench bench(device);
  for (const bool same_sm : {false, true}) {
    const std::string place = same_sm ? ", same SM" : ", other SM";
    const Range expected = {150, 1200};
    for (const bool add : {false, true}) {
      record(bench, recorder, std::string(add ? "red" : "st") + ".release, 1 lane, 1 flag" + place,
             {add, same_sm, 1, 1, 1, true}, expected);
    }
    record(bench, recorder, "st.release, 32 lanes, 32 flags packed" + place,
           {false, same_sm, 32, 1, 1, false}, expected);
    record(bench, recorder, "st.release, 32 lanes, 32 flags, a line each" + place,
           {false, same_sm, 32, 1, line_words, false}, {150, 3000});
  }
  probe_crowds(device, bench, recorder);
}

}  // namespace sluice::gpu_probe
