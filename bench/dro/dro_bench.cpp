// What a launch costs the host: the first of a pair, whose edges have to be found, and a repeat.
// The labels are the targets.
#include <cstdint>
#include <string>
#include <vector>

#include <benchmark/benchmark.h>

#include "dro/handwritten.hpp"
#include "dro/journal/journal.hpp"

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

// table_bytes() is what an edge table holds beside its fixed size.
double table_bytes(const EdgeTable& table) {
  const auto bytes = [](const auto& edges) -> size_t {
    if constexpr (requires { edges.offsets; }) return edges.offsets.size() * sizeof(BlockOffset);
    if constexpr (requires { edges.bytes(); }) return edges.bytes();
    return 0;
  };
  return static_cast<double>(std::visit(bytes, table.form));
}

// A first pair is a launch that meets another for the first time, its edge table included. The
// label says what it may cost.
void report(benchmark::State& state, const DependenceTracker& tracker,
            const std::vector<Dependence>& dependences, const char* target) {
  const EdgeTable& table = tracker.edge_table(dependences.back().dro->edges);
  state.counters["table_bytes"] = table_bytes(table);
  state.counters["edges"] = static_cast<double>(table.edge_count);
  state.SetLabel(target);
}

// The argument is the grid's width and height in blocks.
void first_dro(benchmark::State& state) {
  for (auto _ : state) {
    state.PauseTiming();
    PingPong program(static_cast<uint32_t>(state.range(0)));
    program.launch();
    state.ResumeTiming();
    program.launch();
    state.PauseTiming();
    report(state, program.tracker, program.dependences, "target 5 ms, 65536 bytes");
    state.ResumeTiming();
  }
}
BENCHMARK(first_dro)->Arg(64)->Arg(1024)->Unit(benchmark::kMillisecond);

// first_pair() times the second of two launches on one buffer, its footprint being known.
void first_pair(benchmark::State& state, const analysis::Footprint& master,
                const analysis::Footprint& slave, const char* target) {
  for (auto _ : state) {
    state.PauseTiming();
    DependenceTracker tracker(Rule::exact);
    tracker.buffer_created(1, uint64_t{1} << 22);
    const BoundArgument argument[] = {{1, 0}};
    std::vector<Dependence> dependences;
    tracker.launch({1, *tracker.add_footprint(master), argument}, dependences);
    const FootprintId later = *tracker.add_footprint(slave);
    state.ResumeTiming();
    tracker.launch({2, later, argument}, dependences);
    state.PauseTiming();
    report(state, tracker, dependences, target);
    state.ResumeTiming();
  }
}

// Tiles of 32 x 32 floats of a transposed matrix of 1024 x 1024, then its rows.
void transpose_to_rows(benchmark::State& state) {
  const analysis::Footprint transpose = testing::footprint(
      "transpose", {32, 32},
      {testing::writes(
          "{ B[x, y, z] -> A[o] : exists r : 0 <= x < 32 and 0 <= y < 32 and z = 0 "
          "and 0 <= r < 32 and 4096 * (32 x + r) + 128 y <= o < 4096 * (32 x + r) + 128 y "
          "+ 128 }")});
  const analysis::Footprint rows =
      testing::footprint("rows", {1024}, {testing::reads(testing::chunks(1024, 4096, 4096))});
  first_pair(state, transpose, rows, "target 20 ms");
}
BENCHMARK(transpose_to_rows)->Unit(benchmark::kMillisecond);

void dense(benchmark::State& state) {
  const analysis::Footprint write =
      testing::footprint("write", {4096}, {testing::writes(testing::chunks(4096, 1024, 1024))});
  const analysis::Footprint reduce =
      testing::footprint("reduce", {4096}, {testing::reads(testing::range(4096, 0, 4096L * 1024))});
  first_pair(state, write, reduce, "target 5 ms, 65536 bytes");
}
BENCHMARK(dense)->Unit(benchmark::kMillisecond);

// A step of an elimination, new at each launch: 16 x 16 blocks of 16 x 16 floats. The time is that
// of one launch, which meets those before it.
void elimination_step(benchmark::State& state) {
  constexpr int64_t n = 256;
  const std::string guard =
      "[p] -> { B[x, y, z] -> A[o] : exists r : 0 <= x < 16 and 0 <= y < 16 and z = 0 and 16 y <= "
      "r < 16 y + 16 and p < r < 256 and 16 x + 15 >= p and ";
  const auto columns = [&](const std::string& row) {
    const std::string begin = "1024 " + row;
    return guard + begin + " + 64 x <= o < " + begin + " + 64 x + 64 and o >= " + begin +
           " + 4 p }";
  };
  const std::string below = columns("r");
  const std::string pivot = columns("p");
  analysis::ArgumentFootprint own = testing::writes(below);
  own.reads = testing::exact(below);
  analysis::Footprint step = testing::footprint("step", {16, 16}, {own, testing::reads(pivot)});
  uint64_t launches = 0;
  for (auto _ : state) {
    DependenceTracker tracker(Rule::exact);
    tracker.buffer_created(1, n * n * 4);
    const BoundArgument arguments[] = {{1, 0}, {1, 0}};
    std::vector<Dependence> dependences;
    for (int64_t p = 0; p + 1 < n; ++p) {
      step.symbols = {{"p", p}};
      tracker.launch({++launches, *tracker.add_footprint(step), arguments}, dependences);
    }
    benchmark::DoNotOptimize(dependences.data());
  }
  state.counters["launch"] = benchmark::Counter(
      static_cast<double>(launches), benchmark::Counter::kIsRate | benchmark::Counter::kInvert);
  state.SetLabel("target 0.3 ms a launch");
}
BENCHMARK(elimination_step)->Unit(benchmark::kMillisecond);

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
  state.SetLabel("target 150 ns");
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
  state.SetLabel("target 300 ns");
}
BENCHMARK(repeat_launch_among_many);

void repeat_launch_with_journal(benchmark::State& state) {
  auto journal = JournalWriter::open("/dev/null", Rule::exact, "bench");
  if (!journal) return state.SkipWithError(journal.error().line().c_str());
  PingPong program(64, journal->get());
  for (auto _ : state) {
    (*journal)->describe_launch(
        {program.step.kernel, program.step.shape.grid, program.step.shape.block, {}});
    program.launch();
  }
}
BENCHMARK(repeat_launch_with_journal);

}  // namespace
}  // namespace sluice::dro
