// What allocating and freeing device memory costs, in the table of the CPU device.
#include <random>
#include <vector>

#include <benchmark/benchmark.h>

#include "hostcuda/driver/memory/allocation_table.hpp"

namespace sluice::hostcuda {
namespace {

uintptr_t take(AllocationTable& table, size_t bytes) {
  return table.allocate(MemoryKind::device, bytes, 0, nullptr).value_or(0);
}

// One piece of state.range(0) bytes, again and again.
void one_again_and_again(benchmark::State& state) {
  AllocationTable table(size_t{1} << 40);
  for (auto _ : state) {
    const uintptr_t piece = take(table, static_cast<size_t>(state.range(0)));
    benchmark::DoNotOptimize(piece);
    table.release(piece, MemoryKind::device);
  }
}
BENCHMARK(one_again_and_again)->RangeMultiplier(16)->Range(256, 16 << 20);

// A thousand pieces of up to state.range(0) bytes are there, and each turn replaces one of them.
void one_of_a_thousand(benchmark::State& state) {
  AllocationTable table(size_t{1} << 40);
  std::minstd_rand random(1);
  const auto most = static_cast<size_t>(state.range(0));
  std::vector<uintptr_t> pieces(1000);
  for (uintptr_t& piece : pieces)
    piece = take(table, 1 + random() % most);
  for (auto _ : state) {
    uintptr_t& piece = pieces[random() % pieces.size()];
    table.release(piece, MemoryKind::device);
    piece = take(table, 1 + random() % most);
  }
  for (const uintptr_t piece : pieces)
    table.release(piece, MemoryKind::device);
}
BENCHMARK(one_of_a_thousand)->RangeMultiplier(16)->Range(256, 1 << 20);

}  // namespace
}  // namespace sluice::hostcuda

BENCHMARK_MAIN();
