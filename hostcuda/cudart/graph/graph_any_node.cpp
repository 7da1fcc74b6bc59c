// Conditional nodes, and nodes by one structure for all types. Most types have functions of their
// own, which do the work.
#include "hostcuda/cudart/api.hpp"

using namespace sluice::cudart;

namespace {

cudaKernelNodeParams kernel_of(const cudaGraphNodeParams& parameters) {
  const cudaKernelNodeParamsV2& from = parameters.kernel;
  cudaKernelNodeParams to = {};
  to.func = from.func;
  to.gridDim = from.gridDim;
  to.blockDim = from.blockDim;
  to.sharedMemBytes = from.sharedMemBytes;
  to.kernelParams = from.kernelParams;
  to.extra = from.extra;
  return to;
}

cudaMemsetParams fill_of(const cudaGraphNodeParams& parameters) {
  const cudaMemsetParamsV2& from = parameters.memset;
  cudaMemsetParams to = {};
  to.dst = from.dst;
  to.pitch = from.pitch;
  to.value = from.value;
  to.elementSize = from.elementSize;
  to.width = from.width;
  to.height = from.height;
  return to;
}

cudaHostNodeParams host_of(const cudaGraphNodeParams& parameters) {
  return {parameters.host.fn, parameters.host.userData};
}

// Types without anything to translate: a child graph, events, memory, conditions.
static_assert(sizeof(cudaConditionalNodeParams) <= sizeof(CUDA_CONDITIONAL_NODE_PARAMS));
static_assert(sizeof(cudaMemAllocNodeParamsV2) == sizeof(CUDA_MEM_ALLOC_NODE_PARAMS_v2));
static_assert(sizeof(cudaGraphNodeParams) == sizeof(CUgraphNodeParams));
static_assert(static_cast<int>(cudaGraphNodeTypeConditional) == CU_GRAPH_NODE_TYPE_CONDITIONAL);

CUgraphNodeParams* driver_parameters(cudaGraphNodeParams* parameters) {
  return reinterpret_cast<CUgraphNodeParams*>(parameters);
}

// by_type() calls own() with a pointer to the parameters of the type's own functions, and rest()
// with the driver's where a type has none.
template <class Own, class Rest>
cudaError_t by_type(cudaGraphNodeParams* parameters, Own&& own, Rest&& rest) {
  if (parameters == nullptr) return record(cudaErrorInvalidValue);
  switch (parameters->type) {
    case cudaGraphNodeTypeKernel: {
      const cudaKernelNodeParams kernel = kernel_of(*parameters);
      return own(&kernel);
    }
    case cudaGraphNodeTypeMemcpy:
      return own(const_cast<const cudaMemcpy3DParms*>(&parameters->memcpy.copyParams));
    case cudaGraphNodeTypeMemset: {
      const cudaMemsetParams fill = fill_of(*parameters);
      return own(&fill);
    }
    case cudaGraphNodeTypeHost: {
      const cudaHostNodeParams host = host_of(*parameters);
      return own(&host);
    }
    default:
      return with_context([&] { return rest(driver_parameters(parameters)); });
  }
}

template <class... Function>
struct Overloaded : Function... {
  using Function::operator()...;
};
template <class... Function>
Overloaded(Function...) -> Overloaded<Function...>;

bool is_plain(const cudaGraphEdgeData* data, size_t count) {
  for (size_t i = 0; data != nullptr && i < count; ++i) {
    if (data[i].from_port != 0 || data[i].to_port != 0 || data[i].type != 0) return false;
  }
  return true;
}

}  // namespace

extern "C" {

cudaError_t cudaGraphConditionalHandleCreate(cudaGraphConditionalHandle* handle, cudaGraph_t graph,
                                             unsigned default_value, unsigned flags) {
  return with_context([&] {
    return cuGraphConditionalHandleCreate(reinterpret_cast<CUgraphConditionalHandle*>(handle),
                                          graph, nullptr, default_value, flags);
  });
}

cudaError_t cudaGraphAddNode(cudaGraphNode_t* node, cudaGraph_t graph, const cudaGraphNode_t* after,
                             const cudaGraphEdgeData* data, size_t count,
                             cudaGraphNodeParams* parameters) {
  if (!is_plain(data, count)) return unsupported("cudaGraphAddNode with data at its edges");
  const Overloaded add = {[&](const cudaKernelNodeParams* kernel) {
                            return cudaGraphAddKernelNode(node, graph, after, count, kernel);
                          },
                          [&](const cudaMemcpy3DParms* copy) {
                            return cudaGraphAddMemcpyNode(node, graph, after, count, copy);
                          },
                          [&](const cudaMemsetParams* fill) {
                            return cudaGraphAddMemsetNode(node, graph, after, count, fill);
                          },
                          [&](const cudaHostNodeParams* host) {
                            return cudaGraphAddHostNode(node, graph, after, count, host);
                          }};
  return by_type(parameters, add, [&](CUgraphNodeParams* rest) {
    return cuGraphAddNode(node, graph, after, nullptr, count, rest);
  });
}

cudaError_t cudaGraphNodeSetParams(cudaGraphNode_t node, cudaGraphNodeParams* parameters) {
  const Overloaded set = {
      [&](const cudaKernelNodeParams* kernel) {
        return cudaGraphKernelNodeSetParams(node, kernel);
      },
      [&](const cudaMemcpy3DParms* copy) { return cudaGraphMemcpyNodeSetParams(node, copy); },
      [&](const cudaMemsetParams* fill) { return cudaGraphMemsetNodeSetParams(node, fill); },
      [&](const cudaHostNodeParams* host) { return cudaGraphHostNodeSetParams(node, host); }};
  return by_type(parameters, set,
                 [&](CUgraphNodeParams* rest) { return cuGraphNodeSetParams(node, rest); });
}

cudaError_t cudaGraphExecNodeSetParams(cudaGraphExec_t exec, cudaGraphNode_t node,
                                       cudaGraphNodeParams* parameters) {
  const Overloaded set = {[&](const cudaKernelNodeParams* kernel) {
                            return cudaGraphExecKernelNodeSetParams(exec, node, kernel);
                          },
                          [&](const cudaMemcpy3DParms* copy) {
                            return cudaGraphExecMemcpyNodeSetParams(exec, node, copy);
                          },
                          [&](const cudaMemsetParams* fill) {
                            return cudaGraphExecMemsetNodeSetParams(exec, node, fill);
                          },
                          [&](const cudaHostNodeParams* host) {
                            return cudaGraphExecHostNodeSetParams(exec, node, host);
                          }};
  return by_type(parameters, set, [&](CUgraphNodeParams* rest) {
    return cuGraphExecNodeSetParams(exec, node, rest);
  });
}

}  // extern "C"
