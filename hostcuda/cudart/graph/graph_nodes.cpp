// The nodes of graphs, in the runtime's terms.
#include "hostcuda/cudart/api.hpp"
#include "hostcuda/cudart/code/registry.hpp"
#include "hostcuda/cudart/memory/copy.hpp"

using namespace sluice::cudart;

namespace {

CUcontext current_context() {
  CUcontext context = nullptr;
  cuCtxGetCurrent(&context);
  return context;
}

cudaError_t translate(const cudaKernelNodeParams* from, CUDA_KERNEL_NODE_PARAMS* to) {
  *to = {};
  if (from == nullptr) return cudaErrorInvalidValue;
  CUkernel kernel = nullptr;
  const cudaError_t error = find_kernel(from->func, &kernel);
  if (error != cudaSuccess) return error;
  to->func = reinterpret_cast<CUfunction>(kernel);
  to->gridDimX = from->gridDim.x;
  to->gridDimY = from->gridDim.y;
  to->gridDimZ = from->gridDim.z;
  to->blockDimX = from->blockDim.x;
  to->blockDimY = from->blockDim.y;
  to->blockDimZ = from->blockDim.z;
  to->sharedMemBytes = from->sharedMemBytes;
  to->kernelParams = from->kernelParams;
  to->extra = from->extra;
  return cudaSuccess;
}

cudaError_t translate(const cudaMemcpy3DParms* from, CUDA_MEMCPY3D* to) {
  return from == nullptr ? cudaErrorInvalidValue : describe_box(*from, to);
}

cudaError_t translate(const cudaMemsetParams* from, CUDA_MEMSET_NODE_PARAMS* to) {
  if (from == nullptr) return cudaErrorInvalidValue;
  *to = {device_address(from->dst), from->pitch, from->value,
         from->elementSize,         from->width, from->height};
  return cudaSuccess;
}

cudaError_t translate(const cudaHostNodeParams* from, CUDA_HOST_NODE_PARAMS* to) {
  *to = {};
  if (from == nullptr) return cudaErrorInvalidValue;
  to->fn = from->fn;
  to->userData = from->userData;
  return cudaSuccess;
}

// translated() calls body(driver's parameters).
template <class Driver, class Runtime, class Body>
cudaError_t translated(const Runtime* from, Body&& body) {
  return with_context([&] {
    Driver to;
    const cudaError_t error = translate(from, &to);
    return error == cudaSuccess ? to_error(body(to)) : error;
  });
}

// One row of neighbouring bytes as a box.
cudaMemcpy3DParms row(void* target, const void* source, size_t count, cudaMemcpyKind kind) {
  cudaMemcpy3DParms box = {};
  box.srcPtr = {const_cast<void*>(source), count, count, 1};
  box.dstPtr = {target, count, count, 1};
  box.extent = {count, 1, 1};
  box.kind = kind;
  return box;
}

// place_in() is the address of `count` bytes at an offset of a variable.
cudaError_t place_in(const void* symbol, size_t offset, size_t count, void** place) {
  return with_context([&] {
    DeviceVariable variable;
    const cudaError_t error = find_variable(symbol, &variable);
    if (error != cudaSuccess) return error;
    if (offset > variable.size || count > variable.size - offset) return cudaErrorInvalidValue;
    *place = reinterpret_cast<void*>(variable.address + offset);
    return cudaSuccess;
  });
}

}  // namespace

extern "C" {

cudaError_t cudaGraphAddKernelNode(cudaGraphNode_t* node, cudaGraph_t graph,
                                   const cudaGraphNode_t* after, size_t count,
                                   const cudaKernelNodeParams* parameters) {
  return translated<CUDA_KERNEL_NODE_PARAMS>(parameters, [&](const auto& known) {
    return cuGraphAddKernelNode(node, graph, after, count, &known);
  });
}

cudaError_t cudaGraphKernelNodeSetParams(cudaGraphNode_t node,
                                         const cudaKernelNodeParams* parameters) {
  return translated<CUDA_KERNEL_NODE_PARAMS>(
      parameters, [&](const auto& known) { return cuGraphKernelNodeSetParams(node, &known); });
}

cudaError_t cudaGraphExecKernelNodeSetParams(cudaGraphExec_t exec, cudaGraphNode_t node,
                                             const cudaKernelNodeParams* parameters) {
  return translated<CUDA_KERNEL_NODE_PARAMS>(parameters, [&](const auto& known) {
    return cuGraphExecKernelNodeSetParams(exec, node, &known);
  });
}

cudaError_t cudaGraphKernelNodeGetParams(cudaGraphNode_t node, cudaKernelNodeParams* parameters) {
  return with_context([&] {
    CUDA_KERNEL_NODE_PARAMS known;
    if (parameters == nullptr) return CUDA_ERROR_INVALID_VALUE;
    const CUresult result = cuGraphKernelNodeGetParams(node, &known);
    if (result != CUDA_SUCCESS) return result;
    const auto kernel = reinterpret_cast<CUkernel>(known.func);
    know_kernel(kernel);
    *parameters = {kernel,
                   {known.gridDimX, known.gridDimY, known.gridDimZ},
                   {known.blockDimX, known.blockDimY, known.blockDimZ},
                   known.sharedMemBytes,
                   known.kernelParams,
                   known.extra};
    return CUDA_SUCCESS;
  });
}

cudaError_t cudaGraphAddMemcpyNode(cudaGraphNode_t* node, cudaGraph_t graph,
                                   const cudaGraphNode_t* after, size_t count,
                                   const cudaMemcpy3DParms* parameters) {
  return translated<CUDA_MEMCPY3D>(parameters, [&](const auto& known) {
    return cuGraphAddMemcpyNode(node, graph, after, count, &known, current_context());
  });
}

cudaError_t cudaGraphMemcpyNodeSetParams(cudaGraphNode_t node,
                                         const cudaMemcpy3DParms* parameters) {
  return translated<CUDA_MEMCPY3D>(
      parameters, [&](const auto& known) { return cuGraphMemcpyNodeSetParams(node, &known); });
}

cudaError_t cudaGraphExecMemcpyNodeSetParams(cudaGraphExec_t exec, cudaGraphNode_t node,
                                             const cudaMemcpy3DParms* parameters) {
  return translated<CUDA_MEMCPY3D>(parameters, [&](const auto& known) {
    return cuGraphExecMemcpyNodeSetParams(exec, node, &known, current_context());
  });
}

cudaError_t cudaGraphAddMemcpyNode1D(cudaGraphNode_t* node, cudaGraph_t graph,
                                     const cudaGraphNode_t* after, size_t nodes, void* target,
                                     const void* source, size_t count, cudaMemcpyKind kind) {
  const cudaMemcpy3DParms box = row(target, source, count, kind);
  return cudaGraphAddMemcpyNode(node, graph, after, nodes, &box);
}

cudaError_t cudaGraphMemcpyNodeSetParams1D(cudaGraphNode_t node, void* target, const void* source,
                                           size_t count, cudaMemcpyKind kind) {
  const cudaMemcpy3DParms box = row(target, source, count, kind);
  return cudaGraphMemcpyNodeSetParams(node, &box);
}

cudaError_t cudaGraphExecMemcpyNodeSetParams1D(cudaGraphExec_t exec, cudaGraphNode_t node,
                                               void* target, const void* source, size_t count,
                                               cudaMemcpyKind kind) {
  const cudaMemcpy3DParms box = row(target, source, count, kind);
  return cudaGraphExecMemcpyNodeSetParams(exec, node, &box);
}

cudaError_t cudaGraphAddMemcpyNodeToSymbol(cudaGraphNode_t* node, cudaGraph_t graph,
                                           const cudaGraphNode_t* after, size_t nodes,
                                           const void* symbol, const void* source, size_t count,
                                           size_t offset, cudaMemcpyKind kind) {
  void* place = nullptr;
  const cudaError_t error = place_in(symbol, offset, count, &place);
  return error == cudaSuccess
             ? cudaGraphAddMemcpyNode1D(node, graph, after, nodes, place, source, count, kind)
             : error;
}

cudaError_t cudaGraphAddMemcpyNodeFromSymbol(cudaGraphNode_t* node, cudaGraph_t graph,
                                             const cudaGraphNode_t* after, size_t nodes,
                                             void* target, const void* symbol, size_t count,
                                             size_t offset, cudaMemcpyKind kind) {
  void* place = nullptr;
  const cudaError_t error = place_in(symbol, offset, count, &place);
  return error == cudaSuccess
             ? cudaGraphAddMemcpyNode1D(node, graph, after, nodes, target, place, count, kind)
             : error;
}

cudaError_t cudaGraphAddMemsetNode(cudaGraphNode_t* node, cudaGraph_t graph,
                                   const cudaGraphNode_t* after, size_t count,
                                   const cudaMemsetParams* parameters) {
  return translated<CUDA_MEMSET_NODE_PARAMS>(parameters, [&](const auto& known) {
    return cuGraphAddMemsetNode(node, graph, after, count, &known, current_context());
  });
}

cudaError_t cudaGraphMemsetNodeSetParams(cudaGraphNode_t node, const cudaMemsetParams* parameters) {
  return translated<CUDA_MEMSET_NODE_PARAMS>(
      parameters, [&](const auto& known) { return cuGraphMemsetNodeSetParams(node, &known); });
}

cudaError_t cudaGraphExecMemsetNodeSetParams(cudaGraphExec_t exec, cudaGraphNode_t node,
                                             const cudaMemsetParams* parameters) {
  return translated<CUDA_MEMSET_NODE_PARAMS>(parameters, [&](const auto& known) {
    return cuGraphExecMemsetNodeSetParams(exec, node, &known, current_context());
  });
}

cudaError_t cudaGraphMemsetNodeGetParams(cudaGraphNode_t node, cudaMemsetParams* parameters) {
  return with_context([&] {
    CUDA_MEMSET_NODE_PARAMS known;
    if (parameters == nullptr) return CUDA_ERROR_INVALID_VALUE;
    const CUresult result = cuGraphMemsetNodeGetParams(node, &known);
    if (result != CUDA_SUCCESS) return result;
    *parameters = {reinterpret_cast<void*>(known.dst),
                   known.pitch,
                   known.value,
                   known.elementSize,
                   known.width,
                   known.height};
    return CUDA_SUCCESS;
  });
}

cudaError_t cudaGraphAddHostNode(cudaGraphNode_t* node, cudaGraph_t graph,
                                 const cudaGraphNode_t* after, size_t count,
                                 const cudaHostNodeParams* parameters) {
  return translated<CUDA_HOST_NODE_PARAMS>(parameters, [&](const auto& known) {
    return cuGraphAddHostNode(node, graph, after, count, &known);
  });
}

cudaError_t cudaGraphHostNodeSetParams(cudaGraphNode_t node, const cudaHostNodeParams* parameters) {
  return translated<CUDA_HOST_NODE_PARAMS>(
      parameters, [&](const auto& known) { return cuGraphHostNodeSetParams(node, &known); });
}

cudaError_t cudaGraphExecHostNodeSetParams(cudaGraphExec_t exec, cudaGraphNode_t node,
                                           const cudaHostNodeParams* parameters) {
  return translated<CUDA_HOST_NODE_PARAMS>(parameters, [&](const auto& known) {
    return cuGraphExecHostNodeSetParams(exec, node, &known);
  });
}

cudaError_t cudaGraphHostNodeGetParams(cudaGraphNode_t node, cudaHostNodeParams* parameters) {
  return with_context([&] {
    CUDA_HOST_NODE_PARAMS known = {};
    if (parameters == nullptr) return CUDA_ERROR_INVALID_VALUE;
    const CUresult result = cuGraphHostNodeGetParams(node, &known);
    parameters->fn = known.fn;
    parameters->userData = known.userData;
    return result;
  });
}

cudaError_t cudaGraphAddChildGraphNode(cudaGraphNode_t* node, cudaGraph_t graph,
                                       const cudaGraphNode_t* after, size_t count,
                                       cudaGraph_t child) {
  return with_context([&] { return cuGraphAddChildGraphNode(node, graph, after, count, child); });
}

cudaError_t cudaGraphChildGraphNodeGetGraph(cudaGraphNode_t node, cudaGraph_t* graph) {
  return with_context([&] { return cuGraphChildGraphNodeGetGraph(node, graph); });
}

cudaError_t cudaGraphExecChildGraphNodeSetParams(cudaGraphExec_t exec, cudaGraphNode_t node,
                                                 cudaGraph_t child) {
  return with_context([&] { return cuGraphExecChildGraphNodeSetParams(exec, node, child); });
}

cudaError_t cudaGraphAddEmptyNode(cudaGraphNode_t* node, cudaGraph_t graph,
                                  const cudaGraphNode_t* after, size_t count) {
  return with_context([&] { return cuGraphAddEmptyNode(node, graph, after, count); });
}

}  // extern "C"
