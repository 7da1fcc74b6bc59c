// What large copies and fills cost, by one thread and by the device's threads; the destination is
// there already or, as an array that the program has just allocated, has no pages yet.
#include <thread>
#include <vector>

#include <benchmark/benchmark.h>
#include <sys/mman.h>

#include "hostcuda/driver/memory/copy_box.hpp"
#include "hostcuda/driver/stream/block_pool.hpp"

namespace sluice::hostcuda {
namespace {

// Its threads never end.
BlockPool* pool() {
  static auto* const threads = new BlockPool(std::thread::hardware_concurrency());
  return threads;
}

struct Memory {
  explicit Memory(size_t size)
      : bytes(size),
        start(mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)) {}
  ~Memory() { munmap(start, bytes); }
  Memory(const Memory&) = delete;
  uintptr_t address() const { return reinterpret_cast<uintptr_t>(start); }

  size_t bytes;
  void* start;
};

Copy copy_of(const Memory& from, const Memory& to) {
  Copy copy;
  copy.width = from.bytes;
  copy.source.address = from.address();
  copy.destination.address = to.address();
  return copy;
}

// state.range(0) MiB; state.range(1) is whether the device's threads share them.
void copy_again_and_again(benchmark::State& state) {
  const Memory from(static_cast<size_t>(state.range(0)) << 20U);
  const Memory to(from.bytes);
  perform(Fill{from.address(), 0, 1, 1, from.bytes});
  const Copy copy = copy_of(from, to);
  for (auto _ : state)
    perform(copy, state.range(1) != 0 ? pool() : nullptr);
  state.SetBytesProcessed(static_cast<int64_t>(from.bytes) * state.iterations());
}

void copy_to_new_pages(benchmark::State& state) {
  const Memory from(static_cast<size_t>(state.range(0)) << 20U);
  perform(Fill{from.address(), 0, 1, 1, from.bytes});
  for (auto _ : state) {
    const Memory to(from.bytes);
    const Copy copy = copy_of(from, to);
    perform(copy, state.range(1) != 0 ? pool() : nullptr);
  }
  state.SetBytesProcessed(static_cast<int64_t>(from.bytes) * state.iterations());
}

void fill_again_and_again(benchmark::State& state) {
  const Memory to(static_cast<size_t>(state.range(0)) << 20U);
  const Fill fill{to.address(), 0, 1, 4, to.bytes / 4};
  for (auto _ : state)
    perform(fill, state.range(1) != 0 ? pool() : nullptr);
  state.SetBytesProcessed(static_cast<int64_t>(to.bytes) * state.iterations());
}

BENCHMARK(copy_again_and_again)->ArgsProduct({{2, 4, 8, 16, 64, 256}, {0, 1}})->UseRealTime();
BENCHMARK(copy_to_new_pages)->ArgsProduct({{2, 4, 8, 16, 64, 256}, {0, 1}})->UseRealTime();
BENCHMARK(fill_again_and_again)->ArgsProduct({{2, 4, 8, 16, 64, 256}, {0, 1}})->UseRealTime();

}  // namespace
}  // namespace sluice::hostcuda

BENCHMARK_MAIN();
