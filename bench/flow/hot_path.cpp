// What a repeat launch costs the program's thread: Runtime::launch() of a step over two buffers, on
// a device that executes nothing. Planning and execution of windows are left out, as they happen
// while the program goes on. The time is the processor time of the launching thread, which a busy
// machine hardly changes.
#include <ctime>
#include <deque>
#include <memory>

#include <benchmark/benchmark.h>

#include "runtime/fake_kernels.hpp"
#include "runtime/runtime.hpp"

namespace sluice::runtime {
namespace {

using testing::FakeKernel;
using testing::FakeKernels;

// KeepingDevice keeps windows until drain(), so that it looks busy to the runtime.
class KeepingDevice final : public Device {
 public:
  int launch(const LaunchCall&) override { return 0; }
  Result<SluiceBlockCode> block_code(void* function, const Dim3&, uint32_t) override {
    return SluiceBlockCode{static_cast<FakeKernel*>(function)->run, 0};
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

double thread_seconds() {
  timespec now = {};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

// The batch is less than a full window, so no launch in it plans one.
constexpr int batch = 200;

void repeat_launches(benchmark::State& state, const std::string& journal) {
  FakeKernels kernels;
  FakeKernel& step = kernels["step"];
  step.run = testing::run_nothing;
  KeepingDevice device;
  auto made =
      Runtime::create(Config{.journal_path = journal, .workers = 1}, device, kernels.maker());
  if (!made) return state.SkipWithError(made.error().line().c_str());
  Runtime& runtime = **made;
  runtime.code_loaded(&kernels, kernels.ptx().c_str());
  runtime.function_found(&step, &kernels, "step");

  uint32_t n = 8192;
  std::vector<float> buffers[2] = {std::vector<float>(n), std::vector<float>(n)};
  for (const std::vector<float>& buffer : buffers) {
    runtime.memory_allocated(reinterpret_cast<uint64_t>(buffer.data()), n * sizeof(float));
  }
  const auto launch_batch = [&] {
    for (int t = 0; t < batch; ++t) {
      const float* in = buffers[t % 2].data();
      float* out = buffers[(t + 1) % 2].data();
      void* parameters[] = {&in, &out, &n};
      runtime.launch({.function = &step,
                      .grid = {n / testing::cells_per_block, 1, 1},
                      .block = {testing::cells_per_block, 1, 1},
                      .parameters = parameters});
    }
  };
  const auto finish_batch = [&] {
    runtime.flush();
    device.drain();
  };
  launch_batch();
  finish_batch();
  for (auto _ : state) {
    const double start = thread_seconds();
    launch_batch();
    state.SetIterationTime(thread_seconds() - start);
    finish_batch();
  }
  state.counters["launch"] = benchmark::Counter(
      batch, benchmark::Counter::kIsIterationInvariantRate | benchmark::Counter::kInvert);
}
BENCHMARK_CAPTURE(repeat_launches, without_journal, std::string())->UseManualTime();
BENCHMARK_CAPTURE(repeat_launches, with_journal, std::string("/dev/null"))->UseManualTime();

}  // namespace
}  // namespace sluice::runtime

BENCHMARK_MAIN();
