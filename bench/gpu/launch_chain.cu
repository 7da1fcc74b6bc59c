#include <algorithm>

#include <cooperative_groups.h>

#include "launch_chain.cuh"
#include "ptx.cuh"

namespace sluice::gpu_probe {
namespace {

__global__ void __launch_bounds__(chain_threads) plain_step(long long cycles) {
  stay_busy(cycles);
}

// Lets the next kernel start at once, and holds its own body back until the one before has ended:
// what is left of the gap is what the hardware needs for the hand-over.
__global__ void __launch_bounds__(chain_threads) dependent_step(long long cycles) {
#if __CUDA_ARCH__ >= 900
  asm volatile("griddepcontrol.launch_dependents;" ::: "memory");
  asm volatile("griddepcontrol.wait;" ::: "memory");
#endif
  stay_busy(cycles);
}

// The one wait that is not bounded by us is grid.sync's own; a cooperative launch starts only where
// all blocks are resident, so it always ends.
__global__ void __launch_bounds__(chain_threads) synced_steps(int steps, long long cycles) {
  const cooperative_groups::grid_group grid = cooperative_groups::this_grid();
  for (int step = 0; step < steps; ++step) {
    stay_busy(cycles);
    grid.sync();
  }
}

}  // namespace

LaunchChain::LaunchChain(int blocks, int steps, long long cycles, Tie tie)
    : blocks_(blocks), steps_(steps), cycles_(cycles), tie_(tie), stopwatch_(stream_) {}

LaunchChain::~LaunchChain() {
  if (executable_ != nullptr) {
    static_cast<void>(cudaGraphExecDestroy(executable_));
  }
  if (graph_ != nullptr) {
    static_cast<void>(cudaGraphDestroy(graph_));
  }
}

void LaunchChain::launch_all() {
  cudaLaunchAttribute attribute = {};
  attribute.id = cudaLaunchAttributeProgrammaticStreamSerialization;
  attribute.val.programmaticStreamSerializationAllowed = 1;
  cudaLaunchConfig_t config = {};
  config.gridDim = dim3(static_cast<unsigned>(blocks_));
  config.blockDim = dim3(chain_threads);
  config.stream = stream_.get();
  if (tie_ == Tie::programmatic) {
    config.attrs = &attribute;
    config.numAttrs = 1;
  }
  auto* const kernel = tie_ == Tie::programmatic ? dependent_step : plain_step;
  for (int step = 0; step < steps_; ++step) {
    check(cudaLaunchKernelEx(&config, kernel, cycles_), "launching a step");
  }
}

double LaunchChain::time_stream() {
  stream_.wait();
  stopwatch_.start();
  launch_all();
  return stopwatch_.stop() / steps_;
}

double LaunchChain::time_queued(long long head_start) {
  stream_.wait();
  plain_step<<<1, 1, 0, stream_.get()>>>(head_start);
  check(cudaGetLastError(), "launching the head start");
  stopwatch_.start();
  launch_all();
  return stopwatch_.stop() / steps_;
}

void LaunchChain::capture() {
  check(cudaStreamBeginCapture(stream_.get(), cudaStreamCaptureModeThreadLocal),
        "beginning a capture");
  try {
    launch_all();
  } catch (const ProbeFailure&) {
    // The stream must leave capture mode before anything else can be done with it.
    static_cast<void>(cudaStreamEndCapture(stream_.get(), &graph_));
    throw;
  }
  check(cudaStreamEndCapture(stream_.get(), &graph_), "ending a capture");
  check(cudaGraphInstantiate(&executable_, graph_, 0), "instantiating a graph");
  check(cudaGraphUpload(executable_, stream_.get()), "uploading a graph");
}

double LaunchChain::time_graph() {
  if (executable_ == nullptr) {
    capture();
  }
  stream_.wait();
  stopwatch_.start();
  check(cudaGraphLaunch(executable_, stream_.get()), "launching a graph");
  return stopwatch_.stop() / steps_;
}

std::size_t LaunchChain::programmatic_edges() const {
  std::size_t count = 0;
#if CUDART_VERSION >= 13000
  const auto edges_of = cudaGraphGetEdges;
#else
  const auto edges_of = cudaGraphGetEdges_v2;
#endif
  check(edges_of(graph_, nullptr, nullptr, nullptr, &count), "counting a graph's edges");
  std::vector<cudaGraphNode_t> from(count);
  std::vector<cudaGraphNode_t> to(count);
  std::vector<cudaGraphEdgeData> data(count);
  check(edges_of(graph_, from.data(), to.data(), data.data(), &count), "reading a graph's edges");
  return static_cast<std::size_t>(
      std::count_if(data.begin(), data.end(), [](const cudaGraphEdgeData& edge) {
        return edge.type == cudaGraphDependencyTypeProgrammatic;
      }));
}

double time_grid_sync(int blocks, int steps, long long cycles) {
  const Stream stream;
  Stopwatch stopwatch(stream);
  void* arguments[] = {&steps, &cycles};
  stopwatch.start();
  check(cudaLaunchCooperativeKernel(reinterpret_cast<const void*>(synced_steps),
                                    dim3(static_cast<unsigned>(blocks)), dim3(chain_threads),
                                    arguments, 0, stream.get()),
        "launching a cooperative kernel");
  return stopwatch.stop() / steps;
}

int chain_wave(const Device& device) {
  const int resident = std::min(launch_residency(), resident_blocks(synced_steps, chain_threads));
  return device.sm_count * std::min(4, resident);
}

int launch_residency() {
  return resident_blocks(plain_step, chain_threads);
}

}  // namespace sluice::gpu_probe
