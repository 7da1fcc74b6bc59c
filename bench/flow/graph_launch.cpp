// What a repeat launch of an unchanged graph costs the program's thread: Runtime::take() of a graph
// of 10, 100 and 1,000 kernels, on a device that executes nothing. Each node reads the buffer that
// the one before it has written, and writes the next. Planning and execution of windows are left
// out, as they happen while the program goes on. The time is the processor time of the launching
// thread, which a busy machine hardly changes.
#include <algorithm>
#include <string>
#include <vector>

#include <benchmark/benchmark.h>

#include "flow/launch_batches.hpp"

namespace sluice::runtime {
namespace {

using testing::FakeKernel;
using testing::FakeKernels;
using testing::StepArguments;

// ChainDevice has one graph, a chain of steps over a ring of buffers.
class ChainDevice final : public KeepingDevice {
 public:
  ChainDevice(FakeKernel& step, size_t nodes) : buffers_(nodes, std::vector<float>(cells)) {
    arguments_.reserve(nodes);
    for (size_t i = 0; i < nodes; ++i) {
      arguments_.push_back({buffers_[i].data(), buffers_[(i + 1) % nodes].data(), cells});
      steps_.push_back({.function = &step,
                        .grid = {cells / testing::cells_per_block, 1, 1},
                        .block = {testing::cells_per_block, 1, 1},
                        .parameters = &arguments_.back(),
                        .parameter_bytes = testing::step_argument_bytes});
    }
  }
  const std::vector<std::vector<float>>& buffers() const { return buffers_; }

  bool has_host_memory() override { return true; }
  GraphSteps graph_steps(void*, const StreamKey&) override { return {steps_, 1}; }

 private:
  static constexpr uint32_t cells = 64;
  std::vector<std::vector<float>> buffers_;
  std::vector<StepArguments> arguments_;
  std::vector<SluiceGraphStep> steps_;
};

// So many launches are timed together: no more than a stream takes before a call waits.
int graphs_in_a_batch(size_t nodes) {
  constexpr size_t most_launches = 2000;
  return static_cast<int>(std::min<size_t>(20, most_launches / nodes));
}

void launch_graph(benchmark::State& state, const std::string& journal) {
  FakeKernels kernels;
  FakeKernel& step = kernels["step"];
  step.run = testing::run_nothing;
  const auto nodes = static_cast<size_t>(state.range(0));
  ChainDevice device(step, nodes);
  auto made =
      Runtime::create(Config{.journal_path = journal, .workers = 1}, device, kernels.maker());
  if (!made) return state.SkipWithError(made.error().line().c_str());
  Runtime& runtime = **made;
  runtime.code_loaded(&kernels, kernels.ptx().c_str());
  runtime.function_found(&step, &kernels, "step");
  for (const std::vector<float>& buffer : device.buffers()) {
    runtime.memory_allocated(reinterpret_cast<uint64_t>(buffer.data()),
                             buffer.size() * sizeof(float));
  }
  const int graphs = graphs_in_a_batch(nodes);
  const auto launch_batch = [&] {
    for (int i = 0; i < graphs; ++i)
      if (runtime.take(GraphLaunch{&device, {}}) != 0) state.SkipWithError("it was not taken");
  };
  time_batches(state, runtime, device, 8, "graph", graphs, launch_batch);
}
BENCHMARK_CAPTURE(launch_graph, without_journal, std::string())
    ->UseManualTime()
    ->Arg(10)
    ->Arg(100)
    ->Arg(1000);
BENCHMARK_CAPTURE(launch_graph, with_journal, std::string("/dev/null"))
    ->UseManualTime()
    ->Arg(10)
    ->Arg(100)
    ->Arg(1000);

}  // namespace
}  // namespace sluice::runtime

BENCHMARK_MAIN();
