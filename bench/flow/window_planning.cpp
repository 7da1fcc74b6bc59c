// What a window of a GPU costs the program's thread before it is launched, and how many bytes go
// to the device with it: a chain of 5-point stencils over so many launches of SIDE x SIDE blocks,
// for 1056 workers. `plan` is the planner alone, `tables` what the device reads.
#include <vector>

#include <benchmark/benchmark.h>

#include "dro/edges/edge_table.hpp"
#include "megakernel/cuda/tables/device_tables.hpp"
#include "megakernel/window_builder.hpp"
#include "schedule/planner.hpp"

namespace sluice::megakernel {
namespace {

constexpr uint32_t workers = 1056;
constexpr uint64_t second_level = uint64_t{50} << 20U;
constexpr uint64_t bytes_of_a_block = 4 * 256;

class Chain {
 public:
  Chain(uint32_t launches, uint32_t side)
      : grid_{side, side, 1},
        edges_(testing::cross_table(grid_)),
        planner_({.task_threads = schedule::device_task_threads,
                  .least_nanoseconds = schedule::device_task_nanoseconds,
                  .in_runs = true}) {
    planner_.fit(workers, second_level);
    code_.parameter_bytes = 24;
    for (uint32_t i = 0; i < launches; ++i)
      masters_.push_back({i - 1, &edges_});
    touched_ = {{1, bytes_of_a_block * grid_.count()}, {2, bytes_of_a_block * grid_.count()}};
    for (uint32_t i = 0; i < launches; ++i) {
      asked_.push_back({.grid = grid_, .block = {16, 16, 1}, .touched = touched_});
      if (i > 0) asked_.back().dependences = {&masters_[i], 1};
    }
    window_.code.assign(launches, {.launch = &launch_, .device = &code_, .parameter_bytes = 24});
  }

  schedule::Plan plan() { return planner_.plan(asked_); }
  DeviceTables tables() { return make_device_tables(window_, signals_, {}); }
  Window& window() { return window_; }

 private:
  const Dim3 grid_;
  const dro::EdgeTable edges_;
  schedule::Planner planner_;
  DeviceCode code_;
  std::vector<schedule::Dependence> masters_;
  std::vector<schedule::TouchedBuffer> touched_;
  std::vector<schedule::Launch> asked_;
  const uint64_t parameters_[3] = {};
  SluiceBlockLaunch launch_{parameters_, {grid_.x, grid_.y, 1}, 0};
  Window window_;
  SignalMemory signals_;
};

void plan(benchmark::State& state) {
  Chain chain(static_cast<uint32_t>(state.range(0)), static_cast<uint32_t>(state.range(1)));
  schedule::Plan made;
  for (auto _ : state)
    made = chain.plan();
  state.counters["tasks"] = made.flag_count;
  state.counters["listed"] = static_cast<double>(made.tasks.size());
  state.counters["runs"] = static_cast<double>(made.runs.size());
}

void tables(benchmark::State& state) {
  Chain chain(static_cast<uint32_t>(state.range(0)), static_cast<uint32_t>(state.range(1)));
  chain.window().plan = chain.plan();
  size_t bytes = 0;
  for (auto _ : state)
    bytes = chain.tables().bytes.size();
  state.counters["bytes"] = static_cast<double>(bytes);
}

void sizes(benchmark::internal::Benchmark* bench) {
  for (const int64_t launches : {2, 256})
    for (const int64_t side : {1, 16, 64, 256})
      bench->Args({launches, side});
}
BENCHMARK(plan)->Apply(sizes)->Unit(benchmark::kMicrosecond);
BENCHMARK(tables)->Apply(sizes)->Unit(benchmark::kMicrosecond);

}  // namespace
}  // namespace sluice::megakernel

BENCHMARK_MAIN();
