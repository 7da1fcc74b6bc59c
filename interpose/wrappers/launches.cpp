// Launches, and stream capture, under which launches are recorded instead of run.
#include <atomic>

#include "interpose/wrappers/call_site.hpp"
#include "interpose/wrappers/wrappers.hpp"

using namespace sluice::interpose;

namespace {

// While any stream is captured every launch goes to the driver as it is, after what is held back:
// which streams a capture has spread to is the driver's knowledge.
std::atomic<int> captures{0};

// Another thread may have seen no capture and hold a launch back when one has begun already: so
// windows are closed before each launch that goes past them.
sluice::runtime::Runtime* launching_runtime() {
  if (captures.load() == 0) return Shim::get().runtime();
  flushed_runtime();
  return nullptr;
}

template <class Begin>
CUresult begin_capture(Begin&& begin) {
  const KeepErrno keep;
  captures.fetch_add(1);
  flushed_runtime();
  const CUresult result = begin();
  if (result != CUDA_SUCCESS) captures.fetch_sub(1);
  return result;
}

void pass_through(const char* what, const char* reason) {
  if (sluice::runtime::Runtime* runtime = launching_runtime()) runtime->pass_through(what, reason);
}

}  // namespace

bool sluice::interpose::is_capturing() {
  return captures.load() != 0;
}

extern "C" CUresult sluice_wrap_cuLaunchKernel(CUfunction function, unsigned int grid_x,
                                               unsigned int grid_y, unsigned int grid_z,
                                               unsigned int block_x, unsigned int block_y,
                                               unsigned int block_z, unsigned int shared_bytes,
                                               CUstream stream, void** parameters, void** extra) {
  const KeepErrno keep;
  sluice::runtime::Runtime* runtime = launching_runtime();
  if (runtime == nullptr) {
    return driver().cuLaunchKernel(function, grid_x, grid_y, grid_z, block_x, block_y, block_z,
                                   shared_bytes, stream, parameters, extra);
  }
  sluice::runtime::CallSite site;
  const bool wants_site = runtime->races() != nullptr;
  if (wants_site) site = calling_site();
  return static_cast<CUresult>(runtime->launch({.function = function,
                                                .grid = {grid_x, grid_y, grid_z},
                                                .block = {block_x, block_y, block_z},
                                                .dynamic_shared_bytes = shared_bytes,
                                                .stream = key_of(stream),
                                                .parameters = parameters,
                                                .extra = extra,
                                                .site = wants_site ? &site : nullptr}));
}

extern "C" CUresult sluice_wrap_cuLaunchKernelEx(const CUlaunchConfig* config, CUfunction function,
                                                 void** parameters, void** extra) {
  const KeepErrno keep;
  if (config != nullptr && config->numAttrs == 0) {
    return sluice_wrap_cuLaunchKernel(function, config->gridDimX, config->gridDimY,
                                      config->gridDimZ, config->blockDimX, config->blockDimY,
                                      config->blockDimZ, config->sharedMemBytes, config->hStream,
                                      parameters, extra);
  }
  pass_through("cuLaunchKernelEx", "launched with attributes");
  return driver().cuLaunchKernelEx(config, function, parameters, extra);
}

extern "C" CUresult sluice_wrap_cuLaunchKernelEx_ptsz(const CUlaunchConfig* config,
                                                      CUfunction function, void** parameters,
                                                      void** extra) {
  if (config == nullptr) return sluice_wrap_cuLaunchKernelEx(config, function, parameters, extra);
  CUlaunchConfig on_stream = *config;
  on_stream.hStream = per_thread(config->hStream);
  return sluice_wrap_cuLaunchKernelEx(&on_stream, function, parameters, extra);
}

SLUICE_TOLD(cuLaunchCooperativeKernel,
            (CUfunction function, unsigned int grid_x, unsigned int grid_y, unsigned int grid_z,
             unsigned int block_x, unsigned int block_y, unsigned int block_z,
             unsigned int shared_bytes, CUstream stream, void** parameters),
            (function, grid_x, grid_y, grid_z, block_x, block_y, block_z, shared_bytes, stream,
             parameters),
            pass_through("cuLaunchCooperativeKernel",
                         "a cooperative launch: its blocks wait for each other"))

// A graph of kernels, copies between device memory and fills is its launches.
extern "C" CUresult sluice_wrap_cuGraphLaunch(CUgraphExec graph, CUstream stream) {
  const KeepErrno keep;
  if (sluice::runtime::Runtime* runtime = launching_runtime()) {
    const auto result = runtime->take(sluice::runtime::GraphLaunch{graph, key_of(stream)});
    if (result) return static_cast<CUresult>(*result);
    runtime->pass_through("cuGraphLaunch", "a CUDA graph");
  }
  return driver().cuGraphLaunch(graph, stream);
}

// SLUICE_CAPTURE(symbol, (parameters), (arguments))
#define SLUICE_CAPTURE(symbol, parameters, arguments)                \
  extern "C" CUresult sluice_wrap_##symbol parameters {              \
    return begin_capture([&] { return driver().symbol arguments; }); \
  }
SLUICE_CAPTURE(cuStreamBeginCapture, (CUstream stream), (stream))
SLUICE_CAPTURE(cuStreamBeginCapture_v2, (CUstream stream, CUstreamCaptureMode mode), (stream, mode))
SLUICE_CAPTURE(cuStreamBeginCaptureToGraph,
               (CUstream stream, CUgraph graph, const CUgraphNode* nodes,
                const CUgraphEdgeData* edges, size_t count, CUstreamCaptureMode mode),
               (stream, graph, nodes, edges, count, mode))
#undef SLUICE_CAPTURE

// Whatever its result, an ended capture is over: an invalidated one reports an error here.
extern "C" CUresult sluice_wrap_cuStreamEndCapture(CUstream stream, CUgraph* graph) {
  const KeepErrno keep;
  const CUresult result = driver().cuStreamEndCapture(stream, graph);
  if (result != CUDA_ERROR_ILLEGAL_STATE && captures.load() > 0) captures.fetch_sub(1);
  return result;
}
