// Conditional nodes, and nodes by one structure for all types.
#include "base/log.hpp"
#include "hostcuda/driver/api/graph/graph_entry.hpp"

using namespace sluice::hostcuda;

namespace {

static_assert(sizeof(CUDA_MEM_ALLOC_NODE_PARAMS) == sizeof(CUDA_MEM_ALLOC_NODE_PARAMS_v2));

CUDA_KERNEL_NODE_PARAMS_v2 kernel_of(const CUgraphNodeParams& parameters) {
  CUDA_KERNEL_NODE_PARAMS_v2 kernel = launch_of(parameters.kernel);
  kernel.kern = parameters.kernel.kern;
  kernel.ctx = parameters.kernel.ctx;
  return kernel;
}

CUDA_MEMSET_NODE_PARAMS fill_of(const CUgraphNodeParams& parameters) {
  const CUDA_MEMSET_NODE_PARAMS_v2& from = parameters.memset;
  return {from.dst, from.pitch, from.value, from.elementSize, from.width, from.height};
}

CUDA_HOST_NODE_PARAMS host_of(const CUgraphNodeParams& parameters) {
  CUDA_HOST_NODE_PARAMS to = {};
  to.fn = parameters.host.fn;
  to.userData = parameters.host.userData;
  return to;
}

CUDA_BATCH_MEM_OP_NODE_PARAMS words_of(const CUgraphNodeParams& parameters) {
  const CUDA_BATCH_MEM_OP_NODE_PARAMS_v2& from = parameters.memOp;
  return {from.ctx, from.count, from.paramArray, from.flags};
}

CUresult refuse(const char* what) {
  sluice::log::error("{} is unsupported on the CPU device", what);
  return CUDA_ERROR_NOT_SUPPORTED;
}

bool is_allowed(CUgraphConditionalNodeType type, unsigned bodies) {
  switch (type) {
    case CU_GRAPH_COND_TYPE_IF:
      return bodies == 1 || bodies == 2;
    case CU_GRAPH_COND_TYPE_WHILE:
      return bodies == 1;
    case CU_GRAPH_COND_TYPE_SWITCH:
      return bodies >= 1;
  }
  return false;
}

// The bodies are graphs of the node's: the program fills them and never destroys them.
CUresult add_conditional(CUgraphNode* handle, CUgraph graph_handle, const CUgraphNode* after,
                         size_t count, CUDA_CONDITIONAL_NODE_PARAMS& parameters) {
  return with_graph(graph_handle, [&](Driver&, Graph& graph) -> CUresult {
    const ConditionRef condition = known_conditions().find(parameters.handle);
    if (condition == nullptr || !is_allowed(parameters.type, parameters.size)) {
      return CUDA_ERROR_INVALID_VALUE;
    }
    GraphNode* node = nullptr;
    const CUresult result =
        add_node(graph, handle, after, count,
                 std::make_shared<const ConditionalOperation>(condition, parameters.type,
                                                              std::vector<SharedOperation>{}),
                 &node);
    if (result != CUDA_SUCCESS) return result;
    for (unsigned i = 0; i < parameters.size; ++i) {
      node->bodies.push_back(std::make_shared<Graph>());
      node->body_handles.push_back(known_graphs().add(node->bodies.back()));
    }
    parameters.phGraph_out = node->body_handles.data();
    return CUDA_SUCCESS;
  });
}

}  // namespace

CUresult cuGraphConditionalHandleCreate(CUgraphConditionalHandle* handle, CUgraph graph_handle,
                                        CUcontext, unsigned int default_value, unsigned int flags) {
  return with_graph(graph_handle, [&](Driver&, Graph& graph) -> CUresult {
    if (handle == nullptr || (flags & ~CU_GRAPH_COND_ASSIGN_DEFAULT) != 0) {
      return CUDA_ERROR_INVALID_VALUE;
    }
    auto condition = std::make_shared<Condition>();
    condition->value = condition->default_value = default_value;
    condition->assigns_default = flags == CU_GRAPH_COND_ASSIGN_DEFAULT;
    graph.add_condition(condition);
    *handle = known_conditions().add(std::move(condition));
    return CUDA_SUCCESS;
  });
}

CUresult cuGraphAddNode(CUgraphNode* node, CUgraph graph, const CUgraphNode* after, size_t count,
                        CUgraphNodeParams* parameters) {
  if (parameters == nullptr) return CUDA_ERROR_INVALID_VALUE;
  switch (parameters->type) {
    case CU_GRAPH_NODE_TYPE_KERNEL: {
      const CUDA_KERNEL_NODE_PARAMS_v2 kernel = kernel_of(*parameters);
      return cuGraphAddKernelNode_v2(node, graph, after, count, &kernel);
    }
    case CU_GRAPH_NODE_TYPE_MEMCPY:
      return cuGraphAddMemcpyNode(node, graph, after, count, &parameters->memcpy.copyParams,
                                  parameters->memcpy.copyCtx);
    case CU_GRAPH_NODE_TYPE_MEMSET: {
      const CUDA_MEMSET_NODE_PARAMS fill = fill_of(*parameters);
      return cuGraphAddMemsetNode(node, graph, after, count, &fill, parameters->memset.ctx);
    }
    case CU_GRAPH_NODE_TYPE_HOST: {
      const CUDA_HOST_NODE_PARAMS host = host_of(*parameters);
      return cuGraphAddHostNode(node, graph, after, count, &host);
    }
    case CU_GRAPH_NODE_TYPE_GRAPH:
      if (parameters->graph.ownership != CU_GRAPH_CHILD_GRAPH_OWNERSHIP_CLONE) {
        return refuse("a child graph that moves into its node");
      }
      return cuGraphAddChildGraphNode(node, graph, after, count, parameters->graph.graph);
    case CU_GRAPH_NODE_TYPE_EMPTY:
      return cuGraphAddEmptyNode(node, graph, after, count);
    case CU_GRAPH_NODE_TYPE_WAIT_EVENT:
      return cuGraphAddEventWaitNode(node, graph, after, count, parameters->eventWait.event);
    case CU_GRAPH_NODE_TYPE_EVENT_RECORD:
      return cuGraphAddEventRecordNode(node, graph, after, count, parameters->eventRecord.event);
    case CU_GRAPH_NODE_TYPE_MEM_ALLOC:
      return cuGraphAddMemAllocNode(
          node, graph, after, count,
          reinterpret_cast<CUDA_MEM_ALLOC_NODE_PARAMS*>(&parameters->alloc));
    case CU_GRAPH_NODE_TYPE_MEM_FREE:
      return cuGraphAddMemFreeNode(node, graph, after, count, parameters->free.dptr);
    case CU_GRAPH_NODE_TYPE_BATCH_MEM_OP: {
      const CUDA_BATCH_MEM_OP_NODE_PARAMS words = words_of(*parameters);
      return cuGraphAddBatchMemOpNode(node, graph, after, count, &words);
    }
    case CU_GRAPH_NODE_TYPE_CONDITIONAL:
      return add_conditional(node, graph, after, count, parameters->conditional);
    default:
      return refuse("a graph node of external semaphores");
  }
}

CUresult cuGraphAddNode_v2(CUgraphNode* node, CUgraph graph, const CUgraphNode* after,
                           const CUgraphEdgeData* data, size_t count,
                           CUgraphNodeParams* parameters) {
  if (!is_plain(data, count)) return refuse("data at the edges of a graph");
  return cuGraphAddNode(node, graph, after, count, parameters);
}

CUresult cuGraphNodeSetParams(CUgraphNode node, CUgraphNodeParams* parameters) {
  if (parameters == nullptr) return CUDA_ERROR_INVALID_VALUE;
  switch (parameters->type) {
    case CU_GRAPH_NODE_TYPE_KERNEL: {
      const CUDA_KERNEL_NODE_PARAMS_v2 kernel = kernel_of(*parameters);
      return cuGraphKernelNodeSetParams_v2(node, &kernel);
    }
    case CU_GRAPH_NODE_TYPE_MEMCPY:
      return cuGraphMemcpyNodeSetParams(node, &parameters->memcpy.copyParams);
    case CU_GRAPH_NODE_TYPE_MEMSET: {
      const CUDA_MEMSET_NODE_PARAMS fill = fill_of(*parameters);
      return cuGraphMemsetNodeSetParams(node, &fill);
    }
    case CU_GRAPH_NODE_TYPE_HOST: {
      const CUDA_HOST_NODE_PARAMS host = host_of(*parameters);
      return cuGraphHostNodeSetParams(node, &host);
    }
    case CU_GRAPH_NODE_TYPE_BATCH_MEM_OP: {
      const CUDA_BATCH_MEM_OP_NODE_PARAMS words = words_of(*parameters);
      return cuGraphBatchMemOpNodeSetParams(node, &words);
    }
    case CU_GRAPH_NODE_TYPE_WAIT_EVENT:
      return cuGraphEventWaitNodeSetEvent(node, parameters->eventWait.event);
    case CU_GRAPH_NODE_TYPE_EVENT_RECORD:
      return cuGraphEventRecordNodeSetEvent(node, parameters->eventRecord.event);
    default:
      return refuse("new parameters for a graph node that is a graph, memory or a condition");
  }
}

CUresult cuGraphExecNodeSetParams(CUgraphExec exec, CUgraphNode node,
                                  CUgraphNodeParams* parameters) {
  if (parameters == nullptr) return CUDA_ERROR_INVALID_VALUE;
  switch (parameters->type) {
    case CU_GRAPH_NODE_TYPE_KERNEL: {
      const CUDA_KERNEL_NODE_PARAMS_v2 kernel = kernel_of(*parameters);
      return cuGraphExecKernelNodeSetParams_v2(exec, node, &kernel);
    }
    case CU_GRAPH_NODE_TYPE_MEMCPY:
      return cuGraphExecMemcpyNodeSetParams(exec, node, &parameters->memcpy.copyParams,
                                            parameters->memcpy.copyCtx);
    case CU_GRAPH_NODE_TYPE_MEMSET: {
      const CUDA_MEMSET_NODE_PARAMS fill = fill_of(*parameters);
      return cuGraphExecMemsetNodeSetParams(exec, node, &fill, parameters->memset.ctx);
    }
    case CU_GRAPH_NODE_TYPE_HOST: {
      const CUDA_HOST_NODE_PARAMS host = host_of(*parameters);
      return cuGraphExecHostNodeSetParams(exec, node, &host);
    }
    case CU_GRAPH_NODE_TYPE_GRAPH:
      return cuGraphExecChildGraphNodeSetParams(exec, node, parameters->graph.graph);
    case CU_GRAPH_NODE_TYPE_BATCH_MEM_OP: {
      const CUDA_BATCH_MEM_OP_NODE_PARAMS words = words_of(*parameters);
      return cuGraphExecBatchMemOpNodeSetParams(exec, node, &words);
    }
    case CU_GRAPH_NODE_TYPE_WAIT_EVENT:
      return cuGraphExecEventWaitNodeSetEvent(exec, node, parameters->eventWait.event);
    case CU_GRAPH_NODE_TYPE_EVENT_RECORD:
      return cuGraphExecEventRecordNodeSetEvent(exec, node, parameters->eventRecord.event);
    default:
      return refuse("new parameters for a graph node that is a graph, memory or a condition");
  }
}
