// Probe 4: what a block barrier costs, in the three forms that the megakernel uses.
#include <algorithm>

#include "device.cuh"
#include "probes.hpp"
#include "ptx.cuh"
#include "report/recorder.hpp"

namespace sluice::gpu_probe {
namespace {

constexpr int iterations = 2000;

enum class Barrier {
  all,    // bar.sync 0
  named,  // bar.sync 1, n: a task smaller than its worker
  drain,  // barrier.red.or in a loop until no thread is alive
};

__device__ void sync_named(int threads) {
  asm volatile("bar.sync 1, %0;" ::"r"(threads) : "memory");
}

__device__ bool any_alive(bool alive) {
  unsigned any;
  asm volatile(
      "{\n\t.reg .pred mine, any;\n\t"
      "setp.ne.u32 mine, %1, 0;\n\t"
      "barrier.red.or.pred any, 0, mine;\n\t"
      "selp.u32 %0, 1, 0, any;\n\t}"
      : "=r"(any)
      : "r"(static_cast<unsigned>(alive))
      : "memory");
  return any != 0;
}

// One block; thread 0 counts the cycles of `iterations` barriers. In the drain the upper half of
// the threads has finished at once, and takes part in the others' barriers only.
template <Barrier kind>
__global__ void __launch_bounds__(1024) pass_barriers(long long* cycles) {
  const int threads = static_cast<int>(blockDim.x);
  __syncthreads();
  const long long start = clock64();
  if constexpr (kind == Barrier::drain) {
    int left = static_cast<int>(threadIdx.x) < threads / 2 ? iterations : 1;
    while (any_alive(--left > 0)) {
    }
  } else {
    for (int i = 0; i < iterations; ++i) {
      if constexpr (kind == Barrier::all) {
        asm volatile("bar.sync 0;" ::: "memory");
      } else {
        sync_named(threads);
      }
    }
  }
  if (threadIdx.x == 0) {
    *cycles = clock64() - start;
  }
}

void record(Recorder& recorder, const Device& device, const std::string& name,
            void (*kernel)(long long*), int threads, Range expected) {
  Buffer<long long> cycles(1);
  const std::vector<double> samples = measure([&] {
    kernel<<<1, threads>>>(cycles.get());
    check(cudaGetLastError(), "launching the barrier kernel");
    return static_cast<double>(cycles.download()[0]) / iterations;
  });
  std::vector<double> times(samples.size());
  std::transform(samples.begin(), samples.end(), times.begin(),
                 [&](double c) { return c / device.cycles_per_ns; });
  const std::string title = name + ", " + std::to_string(threads) + " threads";
  recorder.row(title, "cycles", samples, expected);
  recorder.row(title, "ns", times);
}

}  // namespace

void probe_barriers(const Device& device, Recorder& recorder) {
  recorder.begin(
      4, "Barriers",
      "a barrier is a counter in the SM: every warp issues one instruction (about one a cycle and "
      "scheduler) and is told some 20 cycles after the last has come: 15 to 40 cycles for 2 warps, "
      "up "
      "to 100 for 32. bar.sync 1, n is the same hardware. barrier.red.or brings a value back and "
      "the "
      "loop tests it: 10 to 40 cycles more.");
  for (int threads = 64; threads <= 1024; threads *= 2) {
    record(recorder, device, "bar.sync 0", pass_barriers<Barrier::all>, threads, {8, 110});
    record(recorder, device, "bar.sync 1, n", pass_barriers<Barrier::named>, threads, {8, 110});
    record(recorder, device, "barrier.red.or (drain)", pass_barriers<Barrier::drain>, threads,
           {15, 170});
  }
}

}  // namespace sluice::gpu_probe
