// Block functions on one thread: the stencil and the tiled product of FACTS.md, a reduction, and
// the plain loops that a C++ programmer would write instead.
#include <cstdint>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <iterator>
#include <memory>
#include <string>
#include <vector>

#include <benchmark/benchmark.h>

#include "hostcuda/jit/block_compiler.hpp"
#include "ptx/parser.hpp"

namespace {

using namespace sluice;

std::unique_ptr<hostcuda::CompiledModule> load() {
  std::ifstream file(SLUICE_BENCH_PTX);
  const std::string text((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  Result<ptx::Module> parsed = ptx::parse(text, SLUICE_BENCH_PTX);
  if (!parsed) {
    std::cerr << parsed.error().line() << "\n";
    std::exit(1);
  }
  auto module = hostcuda::CompiledModule::create(std::move(*parsed));
  if (!module) {
    std::cerr << module.error().line() << "\n";
    std::exit(1);
  }
  return std::move(*module);
}

hostcuda::CompiledModule& module() {
  static const std::unique_ptr<hostcuda::CompiledModule> loaded = load();
  return *loaded;
}

// Launch holds a compiled kernel with its arguments and scratch memory.
class Launch {
 public:
  Launch(const char* kernel, const Dim3& grid, const Dim3& block, const void* parameters)
      : blocks_(static_cast<uint32_t>(grid.count())),
        launch_{parameters, {grid.x, grid.y, grid.z}, 0} {
    const Result<SluiceBlockCode> code = module().block_code(kernel, block, 0);
    if (!code) {
      std::cerr << code.error().line() << "\n";
      std::exit(1);
    }
    function_ = code->function;
    scratch_.reset(std::aligned_alloc(64, (code->scratch_bytes + 127) / 64 * 64));
  }
  void run() { function_(&launch_, 0, blocks_, scratch_.get()); }

 private:
  struct Free {
    void operator()(void* memory) const { std::free(memory); }
  };
  uint32_t blocks_;
  SluiceBlockLaunch launch_;
  SluiceBlockFunction function_ = nullptr;
  std::unique_ptr<void, Free> scratch_;
};

void stencil(benchmark::State& state) {
  const int n = 4096;
  const auto bx = static_cast<uint32_t>(state.range(0));
  const auto by = static_cast<uint32_t>(state.range(1));
  std::vector<float> in(n * n, 1.5f), out(n * n);
  struct {
    const float* in;
    float* out;
    int width, height;
  } parameters = {in.data(), out.data(), n, n};
  Launch launch("stencil", {n / bx, n / by}, {bx, by}, &parameters);
  for (auto _ : state)
    launch.run();
  state.SetItemsProcessed(state.iterations() * n * n);
}
BENCHMARK(stencil)->Args({16, 16})->Args({32, 8})->Args({64, 4})->Args({256, 1});

void stencil_plain(benchmark::State& state) {
  const int n = 4096;
  std::vector<float> in(n * n, 1.5f), out(n * n);
  for (auto _ : state) {
    for (int y = 0; y < n; ++y) {
      for (int x = 0; x < n; ++x) {
        const int at = y * n + x;
        float sum = in[at];
        if (x > 0) sum += in[at - 1];
        if (x < n - 1) sum += in[at + 1];
        if (y > 0) sum += in[at - n];
        if (y < n - 1) sum += in[at + n];
        out[at] = sum * 0.2f;
      }
    }
    benchmark::DoNotOptimize(out.data());
  }
  state.SetItemsProcessed(state.iterations() * n * n);
}
BENCHMARK(stencil_plain);

// Items are floating-point operations.
void gemm(benchmark::State& state) {
  const int n = 768;
  std::vector<float> a(n * n, 1.5f), b(n * n, 0.5f), c(n * n);
  struct {
    const float *a, *b;
    float* c;
    int n;
  } parameters = {a.data(), b.data(), c.data(), n};
  Launch launch("gemm", {n / 16, n / 16}, {16, 16}, &parameters);
  for (auto _ : state)
    launch.run();
  state.SetItemsProcessed(state.iterations() * 2 * n * n * n);
}
BENCHMARK(gemm);

void gemm_plain(benchmark::State& state) {
  const int n = 768;
  std::vector<float> a(n * n, 1.5f), b(n * n, 0.5f), c(n * n);
  for (auto _ : state) {
    for (int y = 0; y < n; ++y) {
      for (int x = 0; x < n; ++x)
        c[y * n + x] = 0;
      for (int k = 0; k < n; ++k) {
        for (int x = 0; x < n; ++x)
          c[y * n + x] += a[y * n + k] * b[k * n + x];
      }
    }
    benchmark::DoNotOptimize(c.data());
  }
  state.SetItemsProcessed(state.iterations() * 2 * n * n * n);
}
BENCHMARK(gemm_plain);

void reduce(benchmark::State& state) {
  const int blocks = 4096;
  std::vector<float> in(blocks * 256, 1.5f), out(blocks);
  struct {
    const float* in;
    float* out;
  } parameters = {in.data(), out.data()};
  Launch launch("reduce", {blocks}, {256}, &parameters);
  for (auto _ : state)
    launch.run();
  state.SetItemsProcessed(state.iterations() * blocks * 256);
}
BENCHMARK(reduce);

// What a program waits for at the first launch of a kernel with a new block size.
void compile(benchmark::State& state, const char* kernel) {
  for (auto _ : state) {
    const std::unique_ptr<hostcuda::CompiledModule> fresh = load();
    benchmark::DoNotOptimize(fresh->block_code(kernel, {16, 16}, 0));
  }
}
BENCHMARK_CAPTURE(compile, stencil, "stencil")->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(compile, gemm, "gemm")->Unit(benchmark::kMillisecond);

}  // namespace

BENCHMARK_MAIN();
