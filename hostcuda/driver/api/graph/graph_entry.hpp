// How the exported functions of graphs begin.
#pragma once

#include <algorithm>
#include <memory>
#include <vector>

#include "hostcuda/driver/api/entry.hpp"
#include "hostcuda/driver/graph/graph.hpp"

namespace sluice::hostcuda {

// with_graph() calls body(Driver&, Graph&), with_node() body(Driver&, GraphNode&), with_exec()
// body(Driver&, GraphExec&). A handle that is none is CUDA_ERROR_INVALID_VALUE.
template <class Body>
CUresult with_graph(CUgraph handle, Body&& body) noexcept {
  return with_driver([&](Driver& driver) -> CUresult {
    const std::shared_ptr<Graph> graph = known_graphs().find(handle);
    return graph == nullptr ? CUDA_ERROR_INVALID_VALUE : body(driver, *graph);
  });
}

template <class Body>
CUresult with_node(CUgraphNode handle, Body&& body) noexcept {
  return with_driver([&](Driver& driver) -> CUresult {
    const std::shared_ptr<GraphNode> node = find_node(handle);
    return node == nullptr ? CUDA_ERROR_INVALID_VALUE : body(driver, *node);
  });
}

template <class Body>
CUresult with_exec(CUgraphExec handle, Body&& body) noexcept {
  return with_driver([&](Driver& driver) -> CUresult {
    const std::shared_ptr<GraphExec> exec = known_graph_execs().find(handle);
    return exec == nullptr ? CUDA_ERROR_INVALID_VALUE : body(driver, *exec);
  });
}

// is_plain() tells edges without data: each means completion, then start, as all do here.
inline bool is_plain(const CUgraphEdgeData* data, size_t count) {
  return data == nullptr || std::all_of(data, data + count, [](const CUgraphEdgeData& edge) {
           return edge.from_port == 0 && edge.to_port == 0 && edge.type == 0;
         });
}

// nodes_of() gives the nodes of a graph that handles stand for; false where one is no node of it.
inline bool nodes_of(const Graph& graph, const CUgraphNode* handles, size_t count,
                     std::vector<GraphNode*>* nodes) {
  if (count != 0 && handles == nullptr) return false;
  for (size_t i = 0; i < count; ++i) {
    const std::shared_ptr<GraphNode> node = find_node(handles[i]);
    if (!graph.owns(node.get())) return false;
    if (std::find(nodes->begin(), nodes->end(), node.get()) != nodes->end()) return false;
    nodes->push_back(node.get());
  }
  return true;
}

// add_node() adds an operation as a node, for the cuGraphAdd*Node functions.
inline CUresult add_node(Graph& graph, CUgraphNode* handle, const CUgraphNode* after, size_t count,
                         SharedOperation operation, GraphNode** made = nullptr) {
  std::vector<GraphNode*> earlier;
  if (handle == nullptr || !nodes_of(graph, after, count, &earlier)) {
    return CUDA_ERROR_INVALID_VALUE;
  }
  GraphNode& node = *graph.add(std::move(operation), std::move(earlier));
  *handle = node.handle();
  if (made != nullptr) *made = &node;
  return CUDA_SUCCESS;
}

// launch_of() is a kernel node's launch, from CUDA's older and newer structures for one.
template <class Parameters>
CUDA_KERNEL_NODE_PARAMS_v2 launch_of(const Parameters& node) {
  CUDA_KERNEL_NODE_PARAMS_v2 launch = {};
  launch.func = node.func;
  launch.gridDimX = node.gridDimX;
  launch.gridDimY = node.gridDimY;
  launch.gridDimZ = node.gridDimZ;
  launch.blockDimX = node.blockDimX;
  launch.blockDimY = node.blockDimY;
  launch.blockDimZ = node.blockDimZ;
  launch.sharedMemBytes = node.sharedMemBytes;
  launch.kernelParams = node.kernelParams;
  launch.extra = node.extra;
  return launch;
}

}  // namespace sluice::hostcuda
