// Nodes that allocate and free memory, and what all graphs' memory amounts to.
#include <optional>
#include <utility>

#include "hostcuda/driver/api/graph/graph_entry.hpp"
#include "hostcuda/driver/graph/graph_memory.hpp"
#include "hostcuda/driver/memory/pool.hpp"

using namespace sluice::hostcuda;

CUresult cuGraphAddMemAllocNode(CUgraphNode* node, CUgraph handle, const CUgraphNode* after,
                                size_t count, CUDA_MEM_ALLOC_NODE_PARAMS* parameters) {
  return with_graph(handle, [&](Driver& driver, Graph& graph) -> CUresult {
    if (parameters == nullptr || !is_of_this_device(parameters->poolProps.location)) {
      return CUDA_ERROR_INVALID_VALUE;
    }
    SharedOperation operation;
    CUdeviceptr pointer = 0;
    CUresult result = make_graph_memory(driver, parameters->bytesize, &pointer, &operation);
    GraphNode* made = nullptr;
    if (result == CUDA_SUCCESS) {
      result = add_node(graph, node, after, count, std::move(operation), &made);
    }
    if (result == CUDA_SUCCESS) parameters->dptr = made->memory = pointer;
    return result;
  });
}

CUresult cuGraphMemAllocNodeGetParams(CUgraphNode handle, CUDA_MEM_ALLOC_NODE_PARAMS* parameters) {
  return with_node(handle, [&](Driver& driver, const GraphNode& node) -> CUresult {
    if (parameters == nullptr || node.type() != CU_GRAPH_NODE_TYPE_MEM_ALLOC) {
      return CUDA_ERROR_INVALID_VALUE;
    }
    *parameters = {};
    parameters->poolProps.allocType = CU_MEM_ALLOCATION_TYPE_PINNED;
    parameters->poolProps.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
    parameters->dptr = node.memory;
    if (const std::optional<Allocation> known = driver.memory.find(node.memory)) {
      parameters->bytesize = known->bytes;
    }
    return CUDA_SUCCESS;
  });
}

CUresult cuGraphAddMemFreeNode(CUgraphNode* node, CUgraph handle, const CUgraphNode* after,
                               size_t count, CUdeviceptr pointer) {
  return with_graph(handle, [&](Driver& driver, Graph& graph) -> CUresult {
    GraphNode* made = nullptr;
    const CUresult result =
        add_node(graph, node, after, count, make_graph_free(driver, pointer), &made);
    if (result == CUDA_SUCCESS) made->memory = pointer;
    return result;
  });
}

CUresult cuGraphMemFreeNodeGetParams(CUgraphNode handle, CUdeviceptr* pointer) {
  return with_node(handle, [&](Driver&, const GraphNode& node) -> CUresult {
    if (pointer == nullptr || node.type() != CU_GRAPH_NODE_TYPE_MEM_FREE) {
      return CUDA_ERROR_INVALID_VALUE;
    }
    *pointer = node.memory;
    return CUDA_SUCCESS;
  });
}

CUresult cuDeviceGetGraphMemAttribute(CUdevice device, CUgraphMem_attribute attribute,
                                      void* value) {
  return with_device(device, [&](Driver&) -> CUresult {
    if (value == nullptr) return CUDA_ERROR_INVALID_VALUE;
    const MemoryPool& pool = *pools().of_graphs;
    switch (attribute) {
      case CU_GRAPH_MEM_ATTR_USED_MEM_CURRENT:
      case CU_GRAPH_MEM_ATTR_RESERVED_MEM_CURRENT:
        return pool.get(CU_MEMPOOL_ATTR_USED_MEM_CURRENT, value);
      case CU_GRAPH_MEM_ATTR_USED_MEM_HIGH:
      case CU_GRAPH_MEM_ATTR_RESERVED_MEM_HIGH:
        return pool.get(CU_MEMPOOL_ATTR_USED_MEM_HIGH, value);
    }
    return CUDA_ERROR_INVALID_VALUE;
  });
}

CUresult cuDeviceSetGraphMemAttribute(CUdevice device, CUgraphMem_attribute attribute,
                                      void* value) {
  return with_device(device, [&](Driver&) -> CUresult {
    if (value == nullptr || (attribute != CU_GRAPH_MEM_ATTR_USED_MEM_HIGH &&
                             attribute != CU_GRAPH_MEM_ATTR_RESERVED_MEM_HIGH)) {
      return CUDA_ERROR_INVALID_VALUE;
    }
    return pools().of_graphs->set(CU_MEMPOOL_ATTR_USED_MEM_HIGH, value);
  });
}

CUresult cuDeviceGraphMemTrim(CUdevice device) {
  return with_device(device, [](Driver&) { return CUDA_SUCCESS; });
}
