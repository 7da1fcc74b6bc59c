// Stream capture.
#include "hostcuda/driver/graph/capture.hpp"

#include <utility>

#include "hostcuda/driver/api/graph/graph_entry.hpp"

using namespace sluice::hostcuda;

CUresult cuStreamBeginCapture_v2(CUstream handle, CUstreamCaptureMode mode) {
  return with_stream(handle, [&](Driver& driver, Context&, const StreamRef& stream) {
    return begin_capture(driver, stream, mode);
  });
}
SLUICE_PER_THREAD_FORM(cuStreamBeginCapture_v2, ptsz, (CUstream handle, CUstreamCaptureMode mode),
                       (handle, mode))

CUresult cuStreamBeginCapture(CUstream handle) {
  return cuStreamBeginCapture_v2(handle, CU_STREAM_CAPTURE_MODE_GLOBAL);
}
SLUICE_PER_THREAD_FORM(cuStreamBeginCapture, ptsz, (CUstream handle), (handle))

CUresult cuStreamBeginCaptureToGraph(CUstream handle, CUgraph graph, const CUgraphNode* after,
                                     const CUgraphEdgeData*, size_t count,
                                     CUstreamCaptureMode mode) {
  return with_stream(handle, [&](Driver& driver, Context&, const StreamRef& stream) -> CUresult {
    std::shared_ptr<Graph> known = known_graphs().find(graph);
    std::vector<GraphNode*> earlier;
    if (known == nullptr || !nodes_of(*known, after, count, &earlier)) {
      return CUDA_ERROR_INVALID_VALUE;
    }
    return begin_capture(driver, stream, mode, std::move(known), std::move(earlier));
  });
}
SLUICE_PER_THREAD_FORM(cuStreamBeginCaptureToGraph, ptsz,
                       (CUstream handle, CUgraph graph, const CUgraphNode* after,
                        const CUgraphEdgeData* data, size_t count, CUstreamCaptureMode mode),
                       (handle, graph, after, data, count, mode))

CUresult cuStreamEndCapture(CUstream handle, CUgraph* graph) {
  return with_stream(handle, [&](Driver&, Context&, const StreamRef& stream) -> CUresult {
    // Who captures into a graph of his own need not ask for it.
    if (graph != nullptr) *graph = nullptr;
    std::shared_ptr<Graph> captured;
    const CUresult result = end_capture(stream, &captured);
    if (result != CUDA_SUCCESS || graph == nullptr) return result;
    *graph = known_graphs().add(std::move(captured));
    return CUDA_SUCCESS;
  });
}
SLUICE_PER_THREAD_FORM(cuStreamEndCapture, ptsz, (CUstream handle, CUgraph* graph), (handle, graph))

CUresult cuStreamIsCapturing(CUstream handle, CUstreamCaptureStatus* status) {
  return with_stream(handle, [&](Driver&, Context&, const StreamRef& stream) -> CUresult {
    if (status == nullptr) return CUDA_ERROR_INVALID_VALUE;
    *status = capture_state(stream).status;
    return CUDA_SUCCESS;
  });
}
SLUICE_PER_THREAD_FORM(cuStreamIsCapturing, ptsz, (CUstream handle, CUstreamCaptureStatus* status),
                       (handle, status))

CUresult cuStreamGetCaptureInfo_v2(CUstream handle, CUstreamCaptureStatus* status, cuuint64_t* id,
                                   CUgraph* graph, const CUgraphNode** after, size_t* count) {
  return with_stream(handle, [&](Driver&, Context&, const StreamRef& stream) -> CUresult {
    if (status == nullptr) return CUDA_ERROR_INVALID_VALUE;
    const CaptureState state = capture_state(stream);
    *status = state.status;
    if (state.status != CU_STREAM_CAPTURE_STATUS_ACTIVE) return CUDA_SUCCESS;
    if (id != nullptr) *id = state.id;
    if (graph != nullptr) *graph = known_graphs().add(state.graph);
    if (after != nullptr) *after = state.after;
    if (count != nullptr) *count = state.count;
    return CUDA_SUCCESS;
  });
}
SLUICE_PER_THREAD_FORM(cuStreamGetCaptureInfo_v2, ptsz,
                       (CUstream handle, CUstreamCaptureStatus* status, cuuint64_t* id,
                        CUgraph* graph, const CUgraphNode** after, size_t* count),
                       (handle, status, id, graph, after, count))

// Edges carry no data on this device.
CUresult cuStreamGetCaptureInfo_v3(CUstream handle, CUstreamCaptureStatus* status, cuuint64_t* id,
                                   CUgraph* graph, const CUgraphNode** after,
                                   const CUgraphEdgeData** data, size_t* count) {
  if (data != nullptr) *data = nullptr;
  return cuStreamGetCaptureInfo_v2(handle, status, id, graph, after, count);
}
SLUICE_PER_THREAD_FORM(cuStreamGetCaptureInfo_v3, ptsz,
                       (CUstream handle, CUstreamCaptureStatus* status, cuuint64_t* id,
                        CUgraph* graph, const CUgraphNode** after, const CUgraphEdgeData** data,
                        size_t* count),
                       (handle, status, id, graph, after, data, count))

CUresult cuStreamGetCaptureInfo(CUstream handle, CUstreamCaptureStatus* status, cuuint64_t* id) {
  return cuStreamGetCaptureInfo_v2(handle, status, id, nullptr, nullptr, nullptr);
}
SLUICE_PER_THREAD_FORM(cuStreamGetCaptureInfo, ptsz,
                       (CUstream handle, CUstreamCaptureStatus* status, cuuint64_t* id),
                       (handle, status, id))

CUresult cuStreamUpdateCaptureDependencies(CUstream handle, CUgraphNode* nodes, size_t count,
                                           unsigned int flags) {
  return with_stream(handle, [&](Driver&, Context&, const StreamRef& stream) -> CUresult {
    const CaptureState state = capture_state(stream);
    if (state.graph == nullptr) return CUDA_ERROR_ILLEGAL_STATE;
    std::vector<GraphNode*> known;
    if (flags > CU_STREAM_SET_CAPTURE_DEPENDENCIES ||
        !nodes_of(*state.graph, nodes, count, &known)) {
      return CUDA_ERROR_INVALID_VALUE;
    }
    return update_dependencies(stream, known, flags == CU_STREAM_SET_CAPTURE_DEPENDENCIES);
  });
}
SLUICE_PER_THREAD_FORM(cuStreamUpdateCaptureDependencies, ptsz,
                       (CUstream handle, CUgraphNode* nodes, size_t count, unsigned int flags),
                       (handle, nodes, count, flags))

CUresult cuStreamUpdateCaptureDependencies_v2(CUstream handle, CUgraphNode* nodes,
                                              const CUgraphEdgeData*, size_t count,
                                              unsigned int flags) {
  return cuStreamUpdateCaptureDependencies(handle, nodes, count, flags);
}
SLUICE_PER_THREAD_FORM(cuStreamUpdateCaptureDependencies_v2, ptsz,
                       (CUstream handle, CUgraphNode* nodes, const CUgraphEdgeData* data,
                        size_t count, unsigned int flags),
                       (handle, nodes, data, count, flags))

CUresult cuThreadExchangeStreamCaptureMode(CUstreamCaptureMode* mode) {
  if (mode == nullptr) return CUDA_ERROR_INVALID_VALUE;
  static thread_local CUstreamCaptureMode current = CU_STREAM_CAPTURE_MODE_GLOBAL;
  *mode = std::exchange(current, *mode);
  return CUDA_SUCCESS;
}
