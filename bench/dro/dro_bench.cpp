// What a launch costs the host: the first of a pair, where isl runs, and a repeat.
#include <cstdint>
#include <string>
#include <vector>

#include <benchmark/benchmark.h>

#include "dro/handwritten.hpp"
#include "dro/journal.hpp"

namespace sluice::dro {
namespace {

using testing::stencil;

// PingPong is a stencil over two buffers, with its footprint known to a tracker.
struct PingPong {
  explicit PingPong(uint32_t blocks, Observer* observer = nullptr)
      : step(stencil(blocks * 16, 16)), tracker(Rule::exact, observer) {
    const uint64_t bytes = uint64_t{blocks} * blocks * 16 * 16 * 4;
    tracker.buffer_created(1, bytes);
    tracker.buffer_created(2, bytes);
    footprint = *tracker.add_footprint(step);
  }
  void launch() {
    const uint64_t from = number % 2;
    const BoundArgument arguments[] = {{1 + from, 0}, {2 - from, 0}};
    dependences.clear();
    tracker.launch({++number, footprint, arguments}, dependences);
  }

  analysis::Footprint step;
  DependenceTracker tracker;
  FootprintId footprint = 0;
  LaunchNumber number = 0;
  std::vector<Dependence> dependences;
};

// The argument is the grid's width and height in blocks.
void first_dro(benchmark::State& state) {
  for (auto _ : state) {
    state.PauseTiming();
    PingPong program(static_cast<uint32_t>(state.range(0)));
    program.launch();
    state.ResumeTiming();
    program.launch();
    benchmark::DoNotOptimize(program.dependences.data());
  }
}
BENCHMARK(first_dro)->Arg(64)->Arg(1024)->Unit(benchmark::kMillisecond);

void add_footprint(benchmark::State& state) {
  const analysis::Footprint step = stencil(1024, 16);
  for (auto _ : state) {
    DependenceTracker tracker(Rule::exact);
    benchmark::DoNotOptimize(tracker.add_footprint(step));
  }
}
BENCHMARK(add_footprint)->Unit(benchmark::kMillisecond);

void repeat_launch(benchmark::State& state) {
  PingPong program(static_cast<uint32_t>(state.range(0)));
  for (int i = 0; i < 4; ++i)
    program.launch();
  for (auto _ : state) {
    program.launch();
    benchmark::DoNotOptimize(program.dependences.data());
  }
}
BENCHMARK(repeat_launch)->Arg(64)->Arg(1024);

// Beside 10,000 live buffers and 1,000 live launches, half of them on one buffer.
void repeat_launch_among_many(benchmark::State& state) {
  PingPong program(64);
  const auto write = *program.tracker.add_footprint(
      testing::footprint("slice", {1}, {testing::writes(testing::range(1, 0, 256))}));
  for (BufferId buffer = 3; buffer <= 10'002; ++buffer)
    program.tracker.buffer_created(buffer, 500 * 256);
  for (uint64_t i = 0; i < 1000; ++i) {
    const BoundArgument argument[] = {i < 500 ? BoundArgument{3, 256 * i} : BoundArgument{i, 0}};
    program.tracker.launch({++program.number, write, argument}, program.dependences);
  }
  for (int i = 0; i < 4; ++i)
    program.launch();
  for (auto _ : state) {
    program.launch();
    benchmark::DoNotOptimize(program.dependences.data());
  }
}
BENCHMARK(repeat_launch_among_many);

void repeat_launch_with_journal(benchmark::State& state) {
  auto journal = JournalWriter::open("/dev/null", Rule::exact, "bench");
  if (!journal) return state.SkipWithError(journal.error().line().c_str());
  PingPong program(64, journal->get());
  for (auto _ : state) {
    (*journal)->describe_launch(
        {program.step.kernel, program.step.shape.grid, program.step.shape.block, 0, {}});
    program.launch();
  }
}
BENCHMARK(repeat_launch_with_journal);

}  // namespace
}  // namespace sluice::dro
