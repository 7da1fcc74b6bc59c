// Graphs: their life and their shape.
#include <algorithm>
#include <fstream>

#include "hostcuda/driver/api/graph/graph_entry.hpp"

using namespace sluice::hostcuda;

namespace {

// give() fills an array of the program's, which may have room for fewer or more, as CUDA does: the
// rest of a larger one becomes null, and without an array only the count is told.
template <class Handle>
CUresult give(const std::vector<Handle>& values, Handle* array, size_t* count) {
  if (count == nullptr) return CUDA_ERROR_INVALID_VALUE;
  if (array == nullptr) {
    *count = values.size();
    return CUDA_SUCCESS;
  }
  for (size_t i = 0; i < *count; ++i)
    array[i] = i < values.size() ? values[i] : Handle{};
  *count = std::min(*count, values.size());
  return CUDA_SUCCESS;
}

std::vector<CUgraphNode> handles_of(const std::vector<GraphNode*>& nodes) {
  std::vector<CUgraphNode> handles;
  for (GraphNode* node : nodes)
    handles.push_back(node->handle());
  return handles;
}

// Edges carry no data on this device: every one means completion, then start.
CUresult give_plain_edges(CUgraphEdgeData* data, size_t count) {
  if (data != nullptr) std::fill_n(data, count, CUgraphEdgeData{});
  return CUDA_SUCCESS;
}

}  // namespace

CUresult cuGraphCreate(CUgraph* handle, unsigned int flags) {
  return with_driver([&](Driver&) -> CUresult {
    if (handle == nullptr || flags != 0) return CUDA_ERROR_INVALID_VALUE;
    *handle = known_graphs().add(std::make_shared<Graph>());
    return CUDA_SUCCESS;
  });
}

CUresult cuGraphDestroy(CUgraph handle) {
  return with_driver([&](Driver&) -> CUresult {
    return known_graphs().remove(handle) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
  });
}

CUresult cuGraphClone(CUgraph* clone, CUgraph original) {
  return with_graph(original, [&](Driver&, const Graph& graph) -> CUresult {
    if (clone == nullptr) return CUDA_ERROR_INVALID_VALUE;
    std::shared_ptr<Graph> copy = graph.clone();
    if (copy == nullptr) return CUDA_ERROR_NOT_SUPPORTED;
    *clone = known_graphs().add(std::move(copy));
    return CUDA_SUCCESS;
  });
}

CUresult cuGraphNodeFindInClone(CUgraphNode* found, CUgraphNode original, CUgraph clone) {
  return with_graph(clone, [&](Driver&, const Graph& graph) -> CUresult {
    for (const std::shared_ptr<GraphNode>& node : graph.nodes()) {
      if (found == nullptr || node->original == nullptr || node->original->handle() != original) {
        continue;
      }
      *found = node->handle();
      return CUDA_SUCCESS;
    }
    return CUDA_ERROR_INVALID_VALUE;
  });
}

CUresult cuGraphGetNodes(CUgraph handle, CUgraphNode* nodes, size_t* count) {
  return with_graph(handle, [&](Driver&, const Graph& graph) {
    std::vector<CUgraphNode> handles;
    for (const std::shared_ptr<GraphNode>& node : graph.nodes())
      handles.push_back(node->handle());
    return give(handles, nodes, count);
  });
}

CUresult cuGraphGetRootNodes(CUgraph handle, CUgraphNode* nodes, size_t* count) {
  return with_graph(handle, [&](Driver&, const Graph& graph) {
    std::vector<CUgraphNode> handles;
    for (const std::shared_ptr<GraphNode>& node : graph.nodes()) {
      if (node->after.empty()) handles.push_back(node->handle());
    }
    return give(handles, nodes, count);
  });
}

CUresult cuGraphGetEdges(CUgraph handle, CUgraphNode* from, CUgraphNode* to, size_t* count) {
  return with_graph(handle, [&](Driver&, const Graph& graph) -> CUresult {
    std::vector<CUgraphNode> begins;
    std::vector<CUgraphNode> ends;
    for (const std::shared_ptr<GraphNode>& node : graph.nodes()) {
      for (GraphNode* earlier : node->after) {
        begins.push_back(earlier->handle());
        ends.push_back(node->handle());
      }
    }
    if (count == nullptr || (from == nullptr) != (to == nullptr)) return CUDA_ERROR_INVALID_VALUE;
    size_t again = *count;
    give(begins, from, count);
    return give(ends, to, &again);
  });
}

CUresult cuGraphGetEdges_v2(CUgraph handle, CUgraphNode* from, CUgraphNode* to,
                            CUgraphEdgeData* data, size_t* count) {
  const CUresult result = cuGraphGetEdges(handle, from, to, count);
  return result == CUDA_SUCCESS && from != nullptr ? give_plain_edges(data, *count) : result;
}

CUresult cuGraphNodeGetType(CUgraphNode handle, CUgraphNodeType* type) {
  return with_node(handle, [&](Driver&, const GraphNode& node) -> CUresult {
    if (type == nullptr) return CUDA_ERROR_INVALID_VALUE;
    *type = node.type();
    return CUDA_SUCCESS;
  });
}

CUresult cuGraphNodeGetDependencies(CUgraphNode handle, CUgraphNode* nodes, size_t* count) {
  return with_node(handle, [&](Driver&, const GraphNode& node) {
    return give(handles_of(node.after), nodes, count);
  });
}

CUresult cuGraphNodeGetDependencies_v2(CUgraphNode handle, CUgraphNode* nodes,
                                       CUgraphEdgeData* data, size_t* count) {
  const CUresult result = cuGraphNodeGetDependencies(handle, nodes, count);
  return result == CUDA_SUCCESS && nodes != nullptr ? give_plain_edges(data, *count) : result;
}

CUresult cuGraphNodeGetDependentNodes(CUgraphNode handle, CUgraphNode* nodes, size_t* count) {
  return with_node(handle, [&](Driver&, GraphNode& node) {
    std::vector<CUgraphNode> later;
    for (const std::shared_ptr<GraphNode>& other : node.graph->nodes()) {
      if (std::find(other->after.begin(), other->after.end(), &node) != other->after.end()) {
        later.push_back(other->handle());
      }
    }
    return give(later, nodes, count);
  });
}

CUresult cuGraphNodeGetDependentNodes_v2(CUgraphNode handle, CUgraphNode* nodes,
                                         CUgraphEdgeData* data, size_t* count) {
  const CUresult result = cuGraphNodeGetDependentNodes(handle, nodes, count);
  return result == CUDA_SUCCESS && nodes != nullptr ? give_plain_edges(data, *count) : result;
}

CUresult cuGraphAddDependencies(CUgraph handle, const CUgraphNode* from, const CUgraphNode* to,
                                size_t count) {
  return with_graph(handle, [&](Driver&, const Graph& graph) -> CUresult {
    for (size_t i = 0; i < count; ++i) {
      const std::shared_ptr<GraphNode> earlier = find_node(from[i]);
      const std::shared_ptr<GraphNode> later = find_node(to[i]);
      if (!graph.owns(earlier.get()) || !graph.owns(later.get()) || earlier == later) {
        return CUDA_ERROR_INVALID_VALUE;
      }
      std::vector<GraphNode*>& after = later->after;
      if (std::find(after.begin(), after.end(), earlier.get()) != after.end()) {
        return CUDA_ERROR_INVALID_VALUE;
      }
      after.push_back(earlier.get());
    }
    return CUDA_SUCCESS;
  });
}

CUresult cuGraphAddDependencies_v2(CUgraph handle, const CUgraphNode* from, const CUgraphNode* to,
                                   const CUgraphEdgeData* data, size_t count) {
  return is_plain(data, count) ? cuGraphAddDependencies(handle, from, to, count)
                               : CUDA_ERROR_NOT_SUPPORTED;
}

CUresult cuGraphRemoveDependencies(CUgraph handle, const CUgraphNode* from, const CUgraphNode* to,
                                   size_t count) {
  return with_graph(handle, [&](Driver&, const Graph& graph) -> CUresult {
    for (size_t i = 0; i < count; ++i) {
      const std::shared_ptr<GraphNode> earlier = find_node(from[i]);
      const std::shared_ptr<GraphNode> later = find_node(to[i]);
      if (!graph.owns(earlier.get()) || !graph.owns(later.get()) ||
          std::erase(later->after, earlier.get()) == 0) {
        return CUDA_ERROR_INVALID_VALUE;
      }
    }
    return CUDA_SUCCESS;
  });
}

CUresult cuGraphRemoveDependencies_v2(CUgraph handle, const CUgraphNode* from,
                                      const CUgraphNode* to, const CUgraphEdgeData*, size_t count) {
  return cuGraphRemoveDependencies(handle, from, to, count);
}

CUresult cuGraphDestroyNode(CUgraphNode handle) {
  return with_node(handle, [](Driver&, GraphNode& node) -> CUresult {
    node.graph->remove(node);
    return CUDA_SUCCESS;
  });
}

CUresult cuGraphDebugDotPrint(CUgraph handle, const char* path, unsigned int) {
  return with_graph(handle, [&](Driver&, const Graph& graph) -> CUresult {
    if (path == nullptr) return CUDA_ERROR_INVALID_VALUE;
    std::ofstream file(path);
    file << "digraph graph_1 {\n";
    for (const std::shared_ptr<GraphNode>& node : graph.nodes()) {
      file << "  n" << node.get() << " [label=\"type " << node->type() << "\"];\n";
      for (const GraphNode* earlier : node->after)
        file << "  n" << earlier << " -> n" << node.get() << ";\n";
    }
    file << "}\n";
    return file.good() ? CUDA_SUCCESS : CUDA_ERROR_OPERATING_SYSTEM;
  });
}
