// Graphs and stream capture: handles, node types and results are the driver's own.
#include "hostcuda/cudart/api.hpp"

using namespace sluice::cudart;

namespace {

CUstreamCaptureMode driver_mode(cudaStreamCaptureMode mode) {
  return static_cast<CUstreamCaptureMode>(mode);
}

// Edges of the runtime have the driver's layout.
static_assert(sizeof(cudaGraphEdgeData) == sizeof(CUgraphEdgeData));
const CUgraphEdgeData* driver_edges(const cudaGraphEdgeData* data) {
  return reinterpret_cast<const CUgraphEdgeData*>(data);
}
CUgraphEdgeData* driver_edges(cudaGraphEdgeData* data) {
  return reinterpret_cast<CUgraphEdgeData*>(data);
}

static_assert(static_cast<int>(cudaStreamCaptureModeRelaxed) == CU_STREAM_CAPTURE_MODE_RELAXED);
static_assert(static_cast<int>(cudaStreamCaptureStatusActive) == CU_STREAM_CAPTURE_STATUS_ACTIVE);
static_assert(static_cast<int>(cudaGraphNodeTypeMemset) == CU_GRAPH_NODE_TYPE_MEMSET);
static_assert(static_cast<int>(cudaGraphNodeTypeMemFree) == CU_GRAPH_NODE_TYPE_MEM_FREE);
static_assert(static_cast<int>(cudaGraphExecUpdateErrorTopologyChanged) ==
              CU_GRAPH_EXEC_UPDATE_ERROR_TOPOLOGY_CHANGED);

}  // namespace

extern "C" {

cudaError_t cudaGraphCreate(cudaGraph_t* graph, unsigned flags) {
  return with_context([&] { return cuGraphCreate(graph, flags); });
}

cudaError_t cudaGraphDestroy(cudaGraph_t graph) {
  return with_context([&] { return cuGraphDestroy(graph); });
}

cudaError_t cudaGraphClone(cudaGraph_t* clone, cudaGraph_t graph) {
  return with_context([&] { return cuGraphClone(clone, graph); });
}

cudaError_t cudaGraphNodeFindInClone(cudaGraphNode_t* node, cudaGraphNode_t original,
                                     cudaGraph_t clone) {
  return with_context([&] { return cuGraphNodeFindInClone(node, original, clone); });
}

cudaError_t cudaGraphGetNodes(cudaGraph_t graph, cudaGraphNode_t* nodes, size_t* count) {
  return with_context([&] { return cuGraphGetNodes(graph, nodes, count); });
}

cudaError_t cudaGraphGetRootNodes(cudaGraph_t graph, cudaGraphNode_t* nodes, size_t* count) {
  return with_context([&] { return cuGraphGetRootNodes(graph, nodes, count); });
}

cudaError_t cudaGraphGetEdges(cudaGraph_t graph, cudaGraphNode_t* from, cudaGraphNode_t* to,
                              cudaGraphEdgeData* data, size_t* count) {
  return with_context([&] { return cuGraphGetEdges(graph, from, to, driver_edges(data), count); });
}

cudaError_t cudaGraphNodeGetType(cudaGraphNode_t node, cudaGraphNodeType* type) {
  return with_context([&] {
    CUgraphNodeType known = CU_GRAPH_NODE_TYPE_EMPTY;
    if (type == nullptr) return CUDA_ERROR_INVALID_VALUE;
    const CUresult result = cuGraphNodeGetType(node, &known);
    *type = static_cast<cudaGraphNodeType>(known);
    return result;
  });
}

cudaError_t cudaGraphNodeGetDependencies(cudaGraphNode_t node, cudaGraphNode_t* nodes,
                                         cudaGraphEdgeData* data, size_t* count) {
  return with_context(
      [&] { return cuGraphNodeGetDependencies(node, nodes, driver_edges(data), count); });
}

cudaError_t cudaGraphNodeGetDependentNodes(cudaGraphNode_t node, cudaGraphNode_t* nodes,
                                           cudaGraphEdgeData* data, size_t* count) {
  return with_context(
      [&] { return cuGraphNodeGetDependentNodes(node, nodes, driver_edges(data), count); });
}

cudaError_t cudaGraphAddDependencies(cudaGraph_t graph, const cudaGraphNode_t* from,
                                     const cudaGraphNode_t* to, const cudaGraphEdgeData* data,
                                     size_t count) {
  return with_context(
      [&] { return cuGraphAddDependencies(graph, from, to, driver_edges(data), count); });
}

cudaError_t cudaGraphRemoveDependencies(cudaGraph_t graph, const cudaGraphNode_t* from,
                                        const cudaGraphNode_t* to, const cudaGraphEdgeData* data,
                                        size_t count) {
  return with_context(
      [&] { return cuGraphRemoveDependencies(graph, from, to, driver_edges(data), count); });
}

cudaError_t cudaGraphDestroyNode(cudaGraphNode_t node) {
  return with_context([&] { return cuGraphDestroyNode(node); });
}

cudaError_t cudaGraphInstantiate(cudaGraphExec_t* exec, cudaGraph_t graph,
                                 unsigned long long flags) {
  return with_context([&] { return cuGraphInstantiateWithFlags(exec, graph, flags); });
}

cudaError_t cudaGraphInstantiateWithFlags(cudaGraphExec_t* exec, cudaGraph_t graph,
                                          unsigned long long flags) {
  return cudaGraphInstantiate(exec, graph, flags);
}

cudaError_t cudaGraphInstantiateWithParams(cudaGraphExec_t* exec, cudaGraph_t graph,
                                           cudaGraphInstantiateParams* parameters) {
  if (parameters == nullptr) return record(cudaErrorInvalidValue);
  const cudaError_t error = cudaGraphInstantiate(exec, graph, parameters->flags);
  parameters->errNode_out = nullptr;
  parameters->result_out =
      error == cudaSuccess ? cudaGraphInstantiateSuccess : cudaGraphInstantiateError;
  return error;
}

cudaError_t cudaGraphExecDestroy(cudaGraphExec_t exec) {
  return with_context([&] { return cuGraphExecDestroy(exec); });
}

cudaError_t cudaGraphExecGetFlags(cudaGraphExec_t exec, unsigned long long* flags) {
  return with_context([&] {
    cuuint64_t known = 0;
    if (flags == nullptr) return CUDA_ERROR_INVALID_VALUE;
    const CUresult result = cuGraphExecGetFlags(exec, &known);
    *flags = known;
    return result;
  });
}

cudaError_t cudaGraphExecUpdate(cudaGraphExec_t exec, cudaGraph_t graph,
                                cudaGraphExecUpdateResultInfo* information) {
  return with_context([&] {
    if (information == nullptr) return CUDA_ERROR_INVALID_VALUE;
    CUgraphExecUpdateResultInfo known = {};
    const CUresult result = cuGraphExecUpdate(exec, graph, &known);
    *information = {};
    information->result = static_cast<cudaGraphExecUpdateResult>(known.result);
    information->errorNode = known.errorNode;
    information->errorFromNode = known.errorFromNode;
    return result;
  });
}

cudaError_t cudaGraphNodeSetEnabled(cudaGraphExec_t exec, cudaGraphNode_t node, unsigned enabled) {
  return with_context([&] { return cuGraphNodeSetEnabled(exec, node, enabled); });
}

cudaError_t cudaGraphNodeGetEnabled(cudaGraphExec_t exec, cudaGraphNode_t node, unsigned* enabled) {
  return with_context([&] { return cuGraphNodeGetEnabled(exec, node, enabled); });
}

cudaError_t cudaGraphLaunch(cudaGraphExec_t exec, cudaStream_t stream) {
  return with_context([&] { return cuGraphLaunch(exec, stream); });
}

cudaError_t cudaGraphUpload(cudaGraphExec_t exec, cudaStream_t stream) {
  return with_context([&] { return cuGraphUpload(exec, stream); });
}

cudaError_t cudaGraphDebugDotPrint(cudaGraph_t graph, const char* path, unsigned flags) {
  return with_context([&] { return cuGraphDebugDotPrint(graph, path, flags); });
}

cudaError_t cudaStreamBeginCapture(cudaStream_t stream, cudaStreamCaptureMode mode) {
  return with_context([&] { return cuStreamBeginCapture(stream, driver_mode(mode)); });
}

cudaError_t cudaStreamBeginCaptureToGraph(cudaStream_t stream, cudaGraph_t graph,
                                          const cudaGraphNode_t* after,
                                          const cudaGraphEdgeData* data, size_t count,
                                          cudaStreamCaptureMode mode) {
  return with_context([&] {
    return cuStreamBeginCaptureToGraph(stream, graph, after, driver_edges(data), count,
                                       driver_mode(mode));
  });
}

cudaError_t cudaStreamEndCapture(cudaStream_t stream, cudaGraph_t* graph) {
  return with_context([&] { return cuStreamEndCapture(stream, graph); });
}

cudaError_t cudaStreamGetCaptureInfo(cudaStream_t stream, cudaStreamCaptureStatus* status,
                                     unsigned long long* id, cudaGraph_t* graph,
                                     const cudaGraphNode_t** after, const cudaGraphEdgeData** data,
                                     size_t* count) {
  return with_context([&] {
    if (status == nullptr) return CUDA_ERROR_INVALID_VALUE;
    CUstreamCaptureStatus known = CU_STREAM_CAPTURE_STATUS_NONE;
    cuuint64_t number = 0;
    const CUresult result =
        cuStreamGetCaptureInfo(stream, &known, &number, graph, after,
                               reinterpret_cast<const CUgraphEdgeData**>(data), count);
    *status = static_cast<cudaStreamCaptureStatus>(known);
    if (id != nullptr) *id = number;
    return result;
  });
}

cudaError_t cudaStreamUpdateCaptureDependencies(cudaStream_t stream, cudaGraphNode_t* nodes,
                                                const cudaGraphEdgeData* data, size_t count,
                                                unsigned flags) {
  return with_context([&] {
    return cuStreamUpdateCaptureDependencies(stream, nodes, driver_edges(data), count, flags);
  });
}

cudaError_t cudaThreadExchangeStreamCaptureMode(cudaStreamCaptureMode* mode) {
  return with_context([&] {
    if (mode == nullptr) return CUDA_ERROR_INVALID_VALUE;
    CUstreamCaptureMode exchanged = driver_mode(*mode);
    const CUresult result = cuThreadExchangeStreamCaptureMode(&exchanged);
    *mode = static_cast<cudaStreamCaptureMode>(exchanged);
    return result;
  });
}

// The forms for programs with a default stream per thread.

cudaError_t cudaGraphLaunch_ptsz(cudaGraphExec_t exec, cudaStream_t stream) {
  return cudaGraphLaunch(exec, per_thread(stream));
}

cudaError_t cudaGraphUpload_ptsz(cudaGraphExec_t exec, cudaStream_t stream) {
  return cudaGraphUpload(exec, per_thread(stream));
}

cudaError_t cudaGraphInstantiateWithParams_ptsz(cudaGraphExec_t* exec, cudaGraph_t graph,
                                                cudaGraphInstantiateParams* parameters) {
  return cudaGraphInstantiateWithParams(exec, graph, parameters);
}

cudaError_t cudaStreamBeginCapture_ptsz(cudaStream_t stream, cudaStreamCaptureMode mode) {
  return cudaStreamBeginCapture(per_thread(stream), mode);
}

cudaError_t cudaStreamBeginCaptureToGraph_ptsz(cudaStream_t stream, cudaGraph_t graph,
                                               const cudaGraphNode_t* after,
                                               const cudaGraphEdgeData* data, size_t count,
                                               cudaStreamCaptureMode mode) {
  return cudaStreamBeginCaptureToGraph(per_thread(stream), graph, after, data, count, mode);
}

cudaError_t cudaStreamEndCapture_ptsz(cudaStream_t stream, cudaGraph_t* graph) {
  return cudaStreamEndCapture(per_thread(stream), graph);
}

cudaError_t cudaStreamGetCaptureInfo_ptsz(cudaStream_t stream, cudaStreamCaptureStatus* status,
                                          unsigned long long* id, cudaGraph_t* graph,
                                          const cudaGraphNode_t** after,
                                          const cudaGraphEdgeData** data, size_t* count) {
  return cudaStreamGetCaptureInfo(per_thread(stream), status, id, graph, after, data, count);
}

cudaError_t cudaStreamUpdateCaptureDependencies_ptsz(cudaStream_t stream, cudaGraphNode_t* nodes,
                                                     const cudaGraphEdgeData* data, size_t count,
                                                     unsigned flags) {
  return cudaStreamUpdateCaptureDependencies(per_thread(stream), nodes, data, count, flags);
}

}  // extern "C"
