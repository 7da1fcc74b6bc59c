// What it takes to name the stream of a call (interpose/wrappers/stream_keys.cpp): a default stream
// by asking the driver for the current context, at each call; another one by asking for its own
// context, which each thread keeps of the stream that it named last. The driver is the CPU
// device's.
#include <benchmark/benchmark.h>
#include <cuda.h>

namespace {

CUstream made_stream() {
  CUcontext context = nullptr;
  CUstream stream = nullptr;
  cuInit(0);
  cuDevicePrimaryCtxRetain(&context, 0);
  cuCtxSetCurrent(context);
  cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING);
  return stream;
}

void current_context(benchmark::State& state) {
  made_stream();
  for (auto _ : state) {
    CUcontext context = nullptr;
    cuCtxGetCurrent(&context);
    benchmark::DoNotOptimize(context);
  }
}
BENCHMARK(current_context);

void context_of_stream(benchmark::State& state) {
  CUstream const stream = made_stream();
  for (auto _ : state) {
    CUcontext context = nullptr;
    cuStreamGetCtx(stream, &context);
    benchmark::DoNotOptimize(context);
  }
}
BENCHMARK(context_of_stream);

}  // namespace

BENCHMARK_MAIN();
