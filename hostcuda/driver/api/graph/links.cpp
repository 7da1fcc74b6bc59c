// Nodes without work of their own: child graphs, nothing, and events recorded and waited for.
#include "hostcuda/driver/api/graph/graph_entry.hpp"

using namespace sluice::hostcuda;

namespace {

SharedOperation event_operation(CUgraphNodeType type, const std::shared_ptr<Event>& event) {
  if (type == CU_GRAPH_NODE_TYPE_EVENT_RECORD) {
    return std::make_shared<const EventOperation>(event);
  }
  return std::make_shared<const NothingOperation>(type);
}

CUresult add_event(CUgraph handle, CUgraphNode* made, const CUgraphNode* after, size_t count,
                   CUevent event_handle, CUgraphNodeType type) {
  return with_graph(handle, [&](Driver& driver, Graph& graph) -> CUresult {
    std::shared_ptr<Event> event = driver.events.find(event_handle);
    if (event == nullptr) return CUDA_ERROR_INVALID_HANDLE;
    GraphNode* node = nullptr;
    const CUresult result =
        add_node(graph, made, after, count, event_operation(type, event), &node);
    if (result == CUDA_SUCCESS) node->event = std::move(event);
    return result;
  });
}

CUresult get_event(CUgraphNode handle, CUgraphNodeType type, CUevent* event) {
  return with_node(handle, [&](Driver&, const GraphNode& node) -> CUresult {
    if (event == nullptr || node.type() != type) return CUDA_ERROR_INVALID_VALUE;
    *event = reinterpret_cast<CUevent>(node.event.get());
    return CUDA_SUCCESS;
  });
}

CUresult set_event(CUgraphNode handle, CUgraphNodeType type, CUevent event_handle) {
  return with_node(handle, [&](Driver& driver, GraphNode& node) -> CUresult {
    std::shared_ptr<Event> event = driver.events.find(event_handle);
    if (event == nullptr) return CUDA_ERROR_INVALID_HANDLE;
    if (node.type() != type) return CUDA_ERROR_INVALID_VALUE;
    node.operation = event_operation(type, event);
    node.event = std::move(event);
    return CUDA_SUCCESS;
  });
}

CUresult set_event_in_exec(CUgraphExec exec_handle, CUgraphNode handle, CUgraphNodeType type,
                           CUevent event_handle) {
  return with_exec(exec_handle, [&](Driver& driver, GraphExec& exec) -> CUresult {
    const std::shared_ptr<GraphNode> node = find_node(handle);
    const std::shared_ptr<Event> event = driver.events.find(event_handle);
    if (event == nullptr) return CUDA_ERROR_INVALID_HANDLE;
    return node == nullptr ? CUDA_ERROR_INVALID_VALUE
                           : exec.set_event(*node, event_operation(type, event), event);
  });
}

}  // namespace

CUresult cuGraphAddChildGraphNode(CUgraphNode* node, CUgraph graph, const CUgraphNode* after,
                                  size_t count, CUgraph child) {
  return with_graph(graph, [&](Driver&, Graph& parent) -> CUresult {
    const std::shared_ptr<Graph> known = known_graphs().find(child);
    if (known == nullptr || known.get() == &parent) return CUDA_ERROR_INVALID_VALUE;
    const std::shared_ptr<Graph> clone = known->clone();
    if (clone == nullptr) return CUDA_ERROR_NOT_SUPPORTED;
    GraphNode* made = nullptr;
    const CUresult result = add_node(parent, node, after, count, clone->sequence(), &made);
    if (result == CUDA_SUCCESS) made->child = clone;
    return result;
  });
}

CUresult cuGraphChildGraphNodeGetGraph(CUgraphNode node, CUgraph* graph) {
  return with_node(node, [&](Driver&, const GraphNode& known) -> CUresult {
    if (graph == nullptr || known.child == nullptr) return CUDA_ERROR_INVALID_VALUE;
    *graph = known_graphs().add(known.child);
    return CUDA_SUCCESS;
  });
}

CUresult cuGraphExecChildGraphNodeSetParams(CUgraphExec exec, CUgraphNode node, CUgraph child) {
  return with_exec(exec, [&](Driver&, GraphExec& known) -> CUresult {
    const std::shared_ptr<GraphNode> named = find_node(node);
    const std::shared_ptr<Graph> graph = known_graphs().find(child);
    if (named == nullptr || graph == nullptr) return CUDA_ERROR_INVALID_VALUE;
    return known.set(*named, graph->sequence());
  });
}

CUresult cuGraphAddEmptyNode(CUgraphNode* node, CUgraph graph, const CUgraphNode* after,
                             size_t count) {
  return with_graph(graph, [&](Driver&, Graph& known) {
    return add_node(known, node, after, count,
                    std::make_shared<const NothingOperation>(CU_GRAPH_NODE_TYPE_EMPTY));
  });
}

CUresult cuGraphAddEventRecordNode(CUgraphNode* node, CUgraph graph, const CUgraphNode* after,
                                   size_t count, CUevent event) {
  return add_event(graph, node, after, count, event, CU_GRAPH_NODE_TYPE_EVENT_RECORD);
}

CUresult cuGraphAddEventWaitNode(CUgraphNode* node, CUgraph graph, const CUgraphNode* after,
                                 size_t count, CUevent event) {
  return add_event(graph, node, after, count, event, CU_GRAPH_NODE_TYPE_WAIT_EVENT);
}

CUresult cuGraphEventRecordNodeGetEvent(CUgraphNode node, CUevent* event) {
  return get_event(node, CU_GRAPH_NODE_TYPE_EVENT_RECORD, event);
}

CUresult cuGraphEventWaitNodeGetEvent(CUgraphNode node, CUevent* event) {
  return get_event(node, CU_GRAPH_NODE_TYPE_WAIT_EVENT, event);
}

CUresult cuGraphEventRecordNodeSetEvent(CUgraphNode node, CUevent event) {
  return set_event(node, CU_GRAPH_NODE_TYPE_EVENT_RECORD, event);
}

CUresult cuGraphExecEventRecordNodeSetEvent(CUgraphExec exec, CUgraphNode node, CUevent event) {
  return set_event_in_exec(exec, node, CU_GRAPH_NODE_TYPE_EVENT_RECORD, event);
}

CUresult cuGraphEventWaitNodeSetEvent(CUgraphNode node, CUevent event) {
  return set_event(node, CU_GRAPH_NODE_TYPE_WAIT_EVENT, event);
}

CUresult cuGraphExecEventWaitNodeSetEvent(CUgraphExec exec, CUgraphNode node, CUevent event) {
  return set_event_in_exec(exec, node, CU_GRAPH_NODE_TYPE_WAIT_EVENT, event);
}
