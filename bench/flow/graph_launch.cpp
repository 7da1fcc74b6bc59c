// What a repeat launch of a graph costs the program's thread: Runtime::take() of a graph of 10, 100
// and 1,000 kernels, on a device that executes nothing. Each node reads the buffer that the one
// before it has written, and writes the next. The graph is unchanged, or one node after the other
// gets another parameter before each launch: a number that decides about no bytes, or the buffer
// that it reads, which is that of the node before or another one. Planning and execution of windows
// are left out, as they happen while the program goes on. The time is the processor time of the
// launching thread, which a busy machine hardly changes.
#include <algorithm>
#include <cstddef>
#include <string>
#include <vector>

#include <benchmark/benchmark.h>

#include "flow/launch_batches.hpp"

namespace sluice::runtime {
namespace {

using testing::FakeKernel;
using testing::FakeKernels;

enum class Change { nothing, number, buffer };

// StepArguments has a number behind those of a step.
struct StepArguments {
  const float* in;
  float* out;
  uint32_t n;
  uint32_t number;
};

// ChainDevice has one graph, a chain of steps over a ring of buffers.
class ChainDevice final : public KeepingDevice {
 public:
  ChainDevice(FakeKernel& step, size_t nodes) : buffers_(nodes, std::vector<float>(cells)) {
    step.signature.parameters.push_back({"number", offsetof(StepArguments, number), 4});
    step.signature.parameter_bytes = sizeof(StepArguments);
    arguments_.reserve(nodes);
    for (size_t i = 0; i < nodes; ++i) {
      arguments_.push_back({buffers_[i].data(), buffers_[(i + 1) % nodes].data(), cells, 0});
      steps_.push_back({.function = &step,
                        .grid = {cells / testing::cells_per_block, 1, 1},
                        .block = {testing::cells_per_block, 1, 1},
                        .parameters = &arguments_.back(),
                        .parameter_bytes = sizeof(StepArguments)});
    }
  }
  const std::vector<std::vector<float>>& buffers() const { return buffers_; }

  bool has_host_memory() override { return true; }
  GraphSteps graph_steps(void*, const StreamKey&) override { return {steps_, version_}; }

  // change() changes one node.
  void change(Change what) {
    if (what == Change::nothing) return;
    const size_t place = next_++ % steps_.size();
    StepArguments& arguments = arguments_[place];
    ++version_;
    if (what == Change::number) {
      ++arguments.number;
    } else {
      const float* const usual = buffers_[place].data();
      const float* const before = buffers_[(place + buffers_.size() - 1) % buffers_.size()].data();
      arguments.in = arguments.in == usual ? before : usual;
    }
  }

 private:
  static constexpr uint32_t cells = 64;
  uint64_t version_ = 1;
  size_t next_ = 0;
  std::vector<std::vector<float>> buffers_;
  std::vector<StepArguments> arguments_;
  std::vector<SluiceGraphStep> steps_;
};

// So many launches are timed together: no more than a stream takes before a call waits.
int graphs_in_a_batch(size_t nodes) {
  constexpr size_t most_launches = 2000;
  return static_cast<int>(std::min<size_t>(20, most_launches / nodes));
}

void launch_graph(benchmark::State& state, const std::string& journal, Change change) {
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
    for (int i = 0; i < graphs; ++i) {
      device.change(change);
      if (runtime.take(GraphLaunch{&device, {}}) != 0) state.SkipWithError("it was not taken");
    }
  };
  time_batches(state, runtime, device, 8, "graph", graphs, launch_batch);
}
#define SLUICE_OF_ALL_SIZES(name, journal, change)                    \
  BENCHMARK_CAPTURE(launch_graph, name, std::string(journal), change) \
      ->UseManualTime()                                               \
      ->Arg(10)                                                       \
      ->Arg(100)                                                      \
      ->Arg(1000)
SLUICE_OF_ALL_SIZES(without_journal, "", Change::nothing);
SLUICE_OF_ALL_SIZES(with_journal, "/dev/null", Change::nothing);
SLUICE_OF_ALL_SIZES(number_changes, "", Change::number);
SLUICE_OF_ALL_SIZES(buffer_changes, "", Change::buffer);

}  // namespace
}  // namespace sluice::runtime

BENCHMARK_MAIN();
