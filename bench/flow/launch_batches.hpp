// Launches that are timed in batches by the processor time of the launching thread, on a device
// that keeps its windows meanwhile.
#pragma once

#include <ctime>
#include <deque>
#include <functional>
#include <utility>

#include <benchmark/benchmark.h>

#include "runtime/fake_kernels.hpp"
#include "runtime/runtime.hpp"

namespace sluice::runtime {

// KeepingDevice keeps windows until drain(), so that it looks busy to the runtime.
class KeepingDevice : public Device {
 public:
  int launch(const LaunchCall&) override { return 0; }
  Result<SluiceBlockCode> block_code(void* function, const Dim3&, uint32_t) override {
    return SluiceBlockCode{static_cast<testing::FakeKernel*>(function)->run, 0};
  }
  int enqueue(const StreamKey&, std::function<void()> work) override {
    work_.push_back(std::move(work));
    return 0;
  }
  // drain() runs everything; a window that ends may enqueue the next.
  void drain() {
    while (!work_.empty()) {
      const std::function<void()> work = std::move(work_.front());
      work_.pop_front();
      work();
    }
  }

 private:
  std::deque<std::function<void()>> work_;
};

inline double thread_seconds() {
  timespec now = {};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

// time_batches() times `launch_batch`, which makes `count` launches, after so many batches that are
// not timed. What each leaves is done outside of the time.
template <class Launch>
void time_batches(benchmark::State& state, Runtime& runtime, KeepingDevice& device, int untimed,
                  const char* name, int count, Launch&& launch_batch) {
  const auto finish_batch = [&] {
    runtime.flush();
    device.drain();
  };
  for (int i = 0; i < untimed; ++i) {
    launch_batch();
    finish_batch();
  }
  for (auto _ : state) {
    const double start = thread_seconds();
    launch_batch();
    state.SetIterationTime(thread_seconds() - start);
    finish_batch();
  }
  state.counters[name] = benchmark::Counter(
      count, benchmark::Counter::kIsIterationInvariantRate | benchmark::Counter::kInvert);
}

}  // namespace sluice::runtime
