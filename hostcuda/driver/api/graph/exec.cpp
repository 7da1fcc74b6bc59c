// What is instantiated of graphs: its making, change and launch.
#include "base/log.hpp"
#include "hostcuda/driver/api/graph/graph_entry.hpp"
#include "hostcuda/driver/api/graph/graph_steps.hpp"
#include "hostcuda/driver/graph/capture.hpp"

using namespace sluice::hostcuda;

namespace {

CUresult instantiate(CUgraphExec* handle, CUgraph graph, unsigned long long flags) {
  return with_graph(graph, [&](Driver&, const Graph& known) -> CUresult {
    constexpr unsigned long long met = CUDA_GRAPH_INSTANTIATE_FLAG_AUTO_FREE_ON_LAUNCH |
                                       CUDA_GRAPH_INSTANTIATE_FLAG_UPLOAD |
                                       CUDA_GRAPH_INSTANTIATE_FLAG_USE_NODE_PRIORITY;
    if (handle == nullptr || (flags & ~(met | CUDA_GRAPH_INSTANTIATE_FLAG_DEVICE_LAUNCH)) != 0) {
      return CUDA_ERROR_INVALID_VALUE;
    }
    if ((flags & CUDA_GRAPH_INSTANTIATE_FLAG_DEVICE_LAUNCH) != 0) {
      sluice::log::error(
          "a graph for launch from the device is unsupported on the CPU device; launch it from "
          "the host");
      return CUDA_ERROR_NOT_SUPPORTED;
    }
    if (!known.nodes().empty() && known.in_order().empty()) return CUDA_ERROR_INVALID_VALUE;
    *handle = known_graph_execs().add(std::make_shared<GraphExec>(known, flags));
    return CUDA_SUCCESS;
  });
}

}  // namespace

CUresult cuGraphInstantiateWithFlags(CUgraphExec* exec, CUgraph graph, unsigned long long flags) {
  return instantiate(exec, graph, flags);
}

CUresult cuGraphInstantiateWithParams(CUgraphExec* exec, CUgraph graph,
                                      CUDA_GRAPH_INSTANTIATE_PARAMS* parameters) {
  if (parameters == nullptr) return CUDA_ERROR_INVALID_VALUE;
  const CUresult result = instantiate(exec, graph, parameters->flags);
  parameters->hErrNode_out = nullptr;
  parameters->result_out =
      result == CUDA_SUCCESS ? CUDA_GRAPH_INSTANTIATE_SUCCESS : CUDA_GRAPH_INSTANTIATE_ERROR;
  return result;
}

// The forms of CUDA 10 and 11, with a log that stays empty.
CUresult cuGraphInstantiate_v2(CUgraphExec* exec, CUgraph graph, CUgraphNode* error, char* log,
                               size_t size) {
  if (error != nullptr) *error = nullptr;
  if (log != nullptr && size != 0) *log = '\0';
  return instantiate(exec, graph, 0);
}
SLUICE_OLDER_FORM(cuGraphInstantiate, cuGraphInstantiate_v2)

CUresult cuGraphExecDestroy(CUgraphExec handle) {
  return with_driver([&](Driver&) -> CUresult {
    return known_graph_execs().remove(handle) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
  });
}

CUresult cuGraphExecGetFlags(CUgraphExec handle, cuuint64_t* flags) {
  return with_exec(handle, [&](Driver&, const GraphExec& exec) -> CUresult {
    if (flags == nullptr) return CUDA_ERROR_INVALID_VALUE;
    *flags = exec.flags();
    return CUDA_SUCCESS;
  });
}

CUresult cuGraphExecUpdate_v2(CUgraphExec handle, CUgraph graph,
                              CUgraphExecUpdateResultInfo* information) {
  return with_exec(handle, [&](Driver&, GraphExec& exec) -> CUresult {
    const std::shared_ptr<Graph> other = known_graphs().find(graph);
    if (other == nullptr || information == nullptr) return CUDA_ERROR_INVALID_VALUE;
    *information = {};
    if (exec.update(*other)) return CUDA_SUCCESS;
    information->result = CU_GRAPH_EXEC_UPDATE_ERROR_TOPOLOGY_CHANGED;
    return CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE;
  });
}

CUresult cuGraphExecUpdate(CUgraphExec handle, CUgraph graph, CUgraphNode* node,
                           CUgraphExecUpdateResult* result) {
  CUgraphExecUpdateResultInfo information = {};
  const CUresult updated = cuGraphExecUpdate_v2(handle, graph, &information);
  if (node != nullptr) *node = information.errorNode;
  if (result != nullptr) *result = information.result;
  return updated;
}

CUresult cuGraphNodeSetEnabled(CUgraphExec handle, CUgraphNode node_handle, unsigned int enabled) {
  return with_exec(handle, [&](Driver&, GraphExec& exec) -> CUresult {
    const std::shared_ptr<GraphNode> node = find_node(node_handle);
    return node == nullptr ? CUDA_ERROR_INVALID_VALUE : exec.set_enabled(*node, enabled != 0);
  });
}

CUresult cuGraphNodeGetEnabled(CUgraphExec handle, CUgraphNode node_handle, unsigned int* enabled) {
  return with_exec(handle, [&](Driver&, const GraphExec& exec) -> CUresult {
    const std::shared_ptr<GraphNode> node = find_node(node_handle);
    bool is_enabled = false;
    if (node == nullptr || enabled == nullptr) return CUDA_ERROR_INVALID_VALUE;
    const CUresult result = exec.is_enabled(*node, &is_enabled);
    if (result == CUDA_SUCCESS) *enabled = is_enabled ? 1 : 0;
    return result;
  });
}

// A graph starts after the events that its nodes wait for, and its nodes' events are reached when
// all of it is done: later than CUDA would say, never earlier.
CUresult cuGraphLaunch(CUgraphExec handle, CUstream stream_handle) {
  return with_stream(stream_handle,
                     [&](Driver& driver, Context&, const StreamRef& stream) -> CUresult {
                       const std::shared_ptr<GraphExec> exec = known_graph_execs().find(handle);
                       if (exec == nullptr) return CUDA_ERROR_INVALID_VALUE;
                       if (const CUresult error = driver.engine.error(); error != CUDA_SUCCESS)
                         return error;
                       SharedOperation work = exec->sequence();
                       if (is_captured(stream) && add_to_capture(stream, work) != nullptr)
                         return CUDA_SUCCESS;
                       // A graph comes after its last launch, wherever that was.
                       std::vector<Ticket> after;
                       const StreamRef last = exec->begin_in(stream);
                       if (last != nullptr && last != stream)
                         after = driver.engine.before(last->queue);
                       for (const std::shared_ptr<Event>& event : exec->waits())
                         after.push_back(event->ticket());
                       const Ticket ticket =
                           driver.engine.submit(stream->queue, std::move(work), std::move(after));
                       for (const std::shared_ptr<Event>& event : exec->records())
                         event->set_ticket(ticket);
                       return CUDA_SUCCESS;
                     });
}
SLUICE_PER_THREAD_FORM(cuGraphLaunch, ptsz, (CUgraphExec handle, CUstream stream_handle),
                       (handle, stream_handle))

int sluice::hostcuda::graph_steps(void* handle, void* stream_handle, SluiceGraphSteps* steps) {
  return with_stream(static_cast<CUstream>(stream_handle),
                     [&](Driver& driver, Context&, const StreamRef& stream) -> CUresult {
                       const auto exec = known_graph_execs().find(static_cast<CUgraphExec>(handle));
                       if (exec == nullptr) return CUDA_ERROR_INVALID_VALUE;
                       if (const CUresult error = driver.engine.error(); error != CUDA_SUCCESS)
                         return error;
                       const StreamRef last = exec->last_stream();
                       if (is_captured(stream) || (last != nullptr && last != stream))
                         return CUDA_ERROR_NOT_SUPPORTED;
                       const SluiceGraphSteps found = exec->steps();
                       if (found.count == 0) return CUDA_ERROR_NOT_SUPPORTED;
                       exec->begin_in(stream);
                       *steps = found;
                       return CUDA_SUCCESS;
                     });
}

// There is nowhere else to put a graph.
CUresult cuGraphUpload(CUgraphExec handle, CUstream) {
  return with_exec(handle, [](Driver&, const GraphExec&) { return CUDA_SUCCESS; });
}
