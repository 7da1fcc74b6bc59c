// What a repeat launch costs the program's thread: Runtime::launch() of a step over two buffers, on
// a device that executes nothing. Planning and execution of windows are left out, as they happen
// while the program goes on. The time is the processor time of the launching thread, which a busy
// machine hardly changes.
#include <cstdint>
#include <string>
#include <vector>

#include <benchmark/benchmark.h>

#include "flow/launch_batches.hpp"

namespace sluice::runtime {
namespace {

using testing::FakeKernel;
using testing::FakeKernels;

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
  time_batches(state, runtime, device, 1, "launch", batch, launch_batch);
}
BENCHMARK_CAPTURE(repeat_launches, without_journal, std::string())->UseManualTime();
BENCHMARK_CAPTURE(repeat_launches, with_journal, std::string("/dev/null"))->UseManualTime();

}  // namespace
}  // namespace sluice::runtime

BENCHMARK_MAIN();
