// The nodes of graphs: what they do, read and exchanged, in a graph and in what is instantiated.
#include "hostcuda/driver/api/graph/graph_entry.hpp"
#include "hostcuda/driver/operations/copy.hpp"
#include "hostcuda/driver/operations/launch.hpp"
#include "hostcuda/driver/operations/words.hpp"

using namespace sluice::hostcuda;

namespace {

CUresult make(Driver& driver, const CUDA_KERNEL_NODE_PARAMS_v2* parameters,
              SharedOperation* operation) {
  if (parameters == nullptr) return CUDA_ERROR_INVALID_VALUE;
  LaunchRequest request;
  request.function = parameters->func != nullptr ? parameters->func
                                                 : reinterpret_cast<CUfunction>(parameters->kern);
  request.grid = {parameters->gridDimX, parameters->gridDimY, parameters->gridDimZ};
  request.block = {parameters->blockDimX, parameters->blockDimY, parameters->blockDimZ};
  request.dynamic_shared_bytes = parameters->sharedMemBytes;
  request.parameters = parameters->kernelParams;
  request.extra = parameters->extra;
  return make_launch(driver, request, operation);
}

CUresult make(Driver& driver, const CUDA_MEMCPY3D* parameters, SharedOperation* operation) {
  if (parameters == nullptr) return CUDA_ERROR_INVALID_VALUE;
  Copy copy;
  CUresult result = describe_copy(*parameters, &copy);
  if (result == CUDA_SUCCESS) result = check_copy(driver, copy);
  if (result == CUDA_SUCCESS) *operation = std::make_shared<const CopyOperation>(copy, *parameters);
  return result;
}

CUresult make(Driver& driver, const CUDA_MEMSET_NODE_PARAMS* parameters,
              SharedOperation* operation) {
  if (parameters == nullptr) return CUDA_ERROR_INVALID_VALUE;
  const unsigned bytes = parameters->elementSize;
  if (bytes != 1 && bytes != 2 && bytes != 4) return CUDA_ERROR_INVALID_VALUE;
  const Fill fill{parameters->dst, parameters->pitch, parameters->value,
                  bytes,           parameters->width, parameters->height};
  const CUresult result = check_fill(driver, fill);
  if (result == CUDA_SUCCESS) *operation = std::make_shared<const FillOperation>(fill);
  return result;
}

CUresult make(Driver& driver, const CUDA_HOST_NODE_PARAMS* parameters, SharedOperation* operation) {
  if (parameters == nullptr || parameters->fn == nullptr) return CUDA_ERROR_INVALID_VALUE;
  Context* context = ContextStack::of_this_thread().top();
  if (context == nullptr) context = driver.contexts.retain_primary();
  *operation =
      std::make_shared<const HostOperation>(*context, parameters->fn, parameters->userData);
  return CUDA_SUCCESS;
}

CUresult make(Driver& driver, const CUDA_BATCH_MEM_OP_NODE_PARAMS* parameters,
              SharedOperation* operation) {
  return parameters == nullptr ? CUDA_ERROR_INVALID_VALUE
                               : make_words(driver, parameters->paramArray, parameters->count,
                                            parameters->flags, operation);
}

template <class Parameters>
CUresult add(CUgraph handle, CUgraphNode* made, const CUgraphNode* after, size_t count,
             const Parameters* parameters) {
  return with_graph(handle, [&](Driver& driver, Graph& graph) -> CUresult {
    SharedOperation operation;
    const CUresult result = make(driver, parameters, &operation);
    return result == CUDA_SUCCESS ? add_node(graph, made, after, count, std::move(operation))
                                  : result;
  });
}

template <class Parameters>
CUresult set(CUgraphNode handle, const Parameters* parameters) {
  return with_node(handle, [&](Driver& driver, GraphNode& node) -> CUresult {
    SharedOperation operation;
    const CUresult result = make(driver, parameters, &operation);
    if (result != CUDA_SUCCESS) return result;
    if (operation->node_type() != node.type()) return CUDA_ERROR_INVALID_VALUE;
    node.operation = std::move(operation);
    return CUDA_SUCCESS;
  });
}

template <class Parameters>
CUresult set_in_exec(CUgraphExec exec_handle, CUgraphNode handle, const Parameters* parameters) {
  return with_exec(exec_handle, [&](Driver& driver, GraphExec& exec) -> CUresult {
    const std::shared_ptr<GraphNode> node = find_node(handle);
    if (node == nullptr) return CUDA_ERROR_INVALID_VALUE;
    SharedOperation operation;
    const CUresult result = make(driver, parameters, &operation);
    return result == CUDA_SUCCESS ? exec.set(*node, std::move(operation)) : result;
  });
}

// read() calls body(operation) with the node's operation as its own class.
template <class Operation, class Body>
CUresult read(CUgraphNode handle, CUgraphNodeType type, const void* result, Body&& body) {
  return with_node(handle, [&](Driver&, const GraphNode& node) -> CUresult {
    if (result == nullptr || node.type() != type) return CUDA_ERROR_INVALID_VALUE;
    body(static_cast<const Operation&>(*node.operation));
    return CUDA_SUCCESS;
  });
}

}  // namespace

CUresult cuGraphAddKernelNode_v2(CUgraphNode* node, CUgraph graph, const CUgraphNode* after,
                                 size_t count, const CUDA_KERNEL_NODE_PARAMS_v2* parameters) {
  return add(graph, node, after, count, parameters);
}

CUresult cuGraphAddKernelNode(CUgraphNode* node, CUgraph graph, const CUgraphNode* after,
                              size_t count, const CUDA_KERNEL_NODE_PARAMS_v1* parameters) {
  if (parameters == nullptr) return CUDA_ERROR_INVALID_VALUE;
  const CUDA_KERNEL_NODE_PARAMS_v2 full = launch_of(*parameters);
  return add(graph, node, after, count, &full);
}

CUresult cuGraphKernelNodeGetParams_v2(CUgraphNode node, CUDA_KERNEL_NODE_PARAMS_v2* parameters) {
  return read<Operation>(node, CU_GRAPH_NODE_TYPE_KERNEL, parameters,
                         [&](const Operation& launch) { *parameters = launch_parameters(launch); });
}

CUresult cuGraphKernelNodeGetParams(CUgraphNode node, CUDA_KERNEL_NODE_PARAMS_v1* parameters) {
  return read<Operation>(node, CU_GRAPH_NODE_TYPE_KERNEL, parameters, [&](const Operation& launch) {
    const CUDA_KERNEL_NODE_PARAMS_v2 full = launch_parameters(launch);
    *parameters = {full.func,         full.gridDimX,  full.gridDimY,  full.gridDimZ,
                   full.blockDimX,    full.blockDimY, full.blockDimZ, full.sharedMemBytes,
                   full.kernelParams, full.extra};
  });
}

CUresult cuGraphKernelNodeSetParams_v2(CUgraphNode node,
                                       const CUDA_KERNEL_NODE_PARAMS_v2* parameters) {
  return set(node, parameters);
}

CUresult cuGraphKernelNodeSetParams(CUgraphNode node,
                                    const CUDA_KERNEL_NODE_PARAMS_v1* parameters) {
  if (parameters == nullptr) return CUDA_ERROR_INVALID_VALUE;
  const CUDA_KERNEL_NODE_PARAMS_v2 full = launch_of(*parameters);
  return set(node, &full);
}

CUresult cuGraphExecKernelNodeSetParams_v2(CUgraphExec exec, CUgraphNode node,
                                           const CUDA_KERNEL_NODE_PARAMS_v2* parameters) {
  return set_in_exec(exec, node, parameters);
}

CUresult cuGraphExecKernelNodeSetParams(CUgraphExec exec, CUgraphNode node,
                                        const CUDA_KERNEL_NODE_PARAMS_v1* parameters) {
  if (parameters == nullptr) return CUDA_ERROR_INVALID_VALUE;
  const CUDA_KERNEL_NODE_PARAMS_v2 full = launch_of(*parameters);
  return set_in_exec(exec, node, &full);
}

CUresult cuGraphAddMemcpyNode(CUgraphNode* node, CUgraph graph, const CUgraphNode* after,
                              size_t count, const CUDA_MEMCPY3D* parameters, CUcontext) {
  return add(graph, node, after, count, parameters);
}

CUresult cuGraphMemcpyNodeGetParams(CUgraphNode node, CUDA_MEMCPY3D* parameters) {
  return read<CopyOperation>(node, CU_GRAPH_NODE_TYPE_MEMCPY, parameters,
                             [&](const CopyOperation& copy) { *parameters = copy.parameters(); });
}

CUresult cuGraphMemcpyNodeSetParams(CUgraphNode node, const CUDA_MEMCPY3D* parameters) {
  return set(node, parameters);
}

CUresult cuGraphExecMemcpyNodeSetParams(CUgraphExec exec, CUgraphNode node,
                                        const CUDA_MEMCPY3D* parameters, CUcontext) {
  return set_in_exec(exec, node, parameters);
}

CUresult cuGraphAddMemsetNode(CUgraphNode* node, CUgraph graph, const CUgraphNode* after,
                              size_t count, const CUDA_MEMSET_NODE_PARAMS* parameters, CUcontext) {
  return add(graph, node, after, count, parameters);
}

CUresult cuGraphMemsetNodeGetParams(CUgraphNode node, CUDA_MEMSET_NODE_PARAMS* parameters) {
  return read<FillOperation>(
      node, CU_GRAPH_NODE_TYPE_MEMSET, parameters, [&](const FillOperation& operation) {
        const Fill& fill = operation.fill();
        *parameters = {fill.address, fill.pitch,
                       fill.value,   static_cast<unsigned>(fill.element_bytes),
                       fill.width,   fill.height};
      });
}

CUresult cuGraphMemsetNodeSetParams(CUgraphNode node, const CUDA_MEMSET_NODE_PARAMS* parameters) {
  return set(node, parameters);
}

CUresult cuGraphExecMemsetNodeSetParams(CUgraphExec exec, CUgraphNode node,
                                        const CUDA_MEMSET_NODE_PARAMS* parameters, CUcontext) {
  return set_in_exec(exec, node, parameters);
}

CUresult cuGraphAddHostNode(CUgraphNode* node, CUgraph graph, const CUgraphNode* after,
                            size_t count, const CUDA_HOST_NODE_PARAMS* parameters) {
  return add(graph, node, after, count, parameters);
}

CUresult cuGraphHostNodeGetParams(CUgraphNode node, CUDA_HOST_NODE_PARAMS* parameters) {
  return read<HostOperation>(node, CU_GRAPH_NODE_TYPE_HOST, parameters,
                             [&](const HostOperation& host) {
                               *parameters = {};
                               parameters->fn = host.function();
                               parameters->userData = host.data();
                             });
}

CUresult cuGraphHostNodeSetParams(CUgraphNode node, const CUDA_HOST_NODE_PARAMS* parameters) {
  return set(node, parameters);
}

CUresult cuGraphExecHostNodeSetParams(CUgraphExec exec, CUgraphNode node,
                                      const CUDA_HOST_NODE_PARAMS* parameters) {
  return set_in_exec(exec, node, parameters);
}

CUresult cuGraphAddBatchMemOpNode(CUgraphNode* node, CUgraph graph, const CUgraphNode* after,
                                  size_t count, const CUDA_BATCH_MEM_OP_NODE_PARAMS* parameters) {
  return add(graph, node, after, count, parameters);
}

// The array is the node's own until its parameters change.
CUresult cuGraphBatchMemOpNodeGetParams(CUgraphNode node,
                                        CUDA_BATCH_MEM_OP_NODE_PARAMS* parameters) {
  return read<WordsOperation>(
      node, CU_GRAPH_NODE_TYPE_BATCH_MEM_OP, parameters, [&](const WordsOperation& words) {
        *parameters = {};
        parameters->count = static_cast<unsigned>(words.operations().size());
        parameters->paramArray = const_cast<CUstreamBatchMemOpParams*>(words.operations().data());
      });
}

CUresult cuGraphBatchMemOpNodeSetParams(CUgraphNode node,
                                        const CUDA_BATCH_MEM_OP_NODE_PARAMS* parameters) {
  return set(node, parameters);
}

CUresult cuGraphExecBatchMemOpNodeSetParams(CUgraphExec exec, CUgraphNode node,
                                            const CUDA_BATCH_MEM_OP_NODE_PARAMS* parameters) {
  return set_in_exec(exec, node, parameters);
}
