// Graphs of a machine: launched, changed and launched again.
#include "random_programs/machine.hpp"

#define SLUICE_CALL(symbol, ...) api_.check(api_.symbol(__VA_ARGS__), #symbol)

namespace sluice::random_programs {
namespace {

// Choices are numbers drawn from a step's salt.
class Choices {
 public:
  explicit Choices(uint32_t salt) : state_(salt | 1U) {}
  uint32_t number() {
    state_ = state_ * 1664525U + 1013904223U;
    return state_ >> 8U;
  }
  uint32_t below(uint32_t end) { return number() % end; }
  // fewer() is of bytes or words at most all, mostly as many.
  uint32_t fewer(uint32_t all) { return below(3) == 0 ? 1 + below(all) : all; }

 private:
  uint32_t state_;
};

}  // namespace

CUgraph Machine::capture(const std::vector<Step>& steps) {
  const CUstream on = stream(steps.front());
  CUgraph graph = nullptr;
  SLUICE_CALL(cuStreamBeginCapture_v2, on, CU_STREAM_CAPTURE_MODE_RELAXED);
  for (const Step& step : steps) {
    if (step.call == Call::fill) {
      fill(step);
    } else if (step.call == Call::copy) {
      copy(step);
    } else {
      launch(step);
    }
  }
  SLUICE_CALL(cuStreamEndCapture, on, &graph);
  return graph;
}

// What is kept of a graph is used from its fifth launch on, and as long as changes are such that
// the same bytes are touched.
void Machine::launch_graph(size_t index) {
  const Step& graph_step = program_->steps[index];
  const auto first = program_->steps.begin() + static_cast<ptrdiff_t>(index) + 1;
  std::vector<Step> steps(first, first + graph_step.number);
  const CUstream on = stream(graph_step);
  const CUgraph graph = capture(steps);
  CUgraphExec executable = nullptr;
  SLUICE_CALL(cuGraphInstantiateWithFlags, &executable, graph, 0);
  Choices choices(graph_step.salt);
  const auto launch_often = [&](uint32_t times) {
    for (uint32_t i = 0; i < times; ++i)
      SLUICE_CALL(cuGraphLaunch, executable, on);
  };
  const bool is_changed = graph_step.form == Form::third || graph_step.form == Form::fourth;
  launch_often(graph_step.salt % 4 == 0 ? 20 : 1 + graph_step.salt % (is_changed ? 6 : 3));
  const uint32_t changes = is_changed ? 1 + choices.below(8) : 0;
  for (uint32_t i = 0; i < changes; ++i) {
    if (graph_step.form == Form::third) {
      change_graph(graph, executable, choices.number());
    } else {
      update_graph(steps, executable, choices.number());
    }
    launch_often(choices.below(4) == 0 ? 6 : 1);
  }
  if (graph_step.form == Form::other) launch_often(1 + graph_step.salt % 20);
  SLUICE_CALL(cuGraphExecDestroy, executable);
  SLUICE_CALL(cuGraphDestroy, graph);
}

void Machine::update_graph(std::vector<Step>& steps, CUgraphExec executable, uint32_t salt) {
  Choices choices(salt);
  Step& changed = steps[choices.below(static_cast<uint32_t>(steps.size()))];
  changed.salt = choices.number();
  changed.words = choices.fewer(changed.words);
  const CUgraph graph = capture(steps);
  CUgraphExecUpdateResultInfo information = {};
  SLUICE_CALL(cuGraphExecUpdate_v2, executable, graph, &information);
  SLUICE_CALL(cuGraphDestroy, graph);
}

void Machine::change_graph(CUgraph graph, CUgraphExec executable, uint32_t salt) {
  Choices choices(salt);
  size_t count = 0;
  SLUICE_CALL(cuGraphGetNodes, graph, nullptr, &count);
  std::vector<CUgraphNode> nodes(count);
  SLUICE_CALL(cuGraphGetNodes, graph, nodes.data(), &count);
  const CUgraphNode node = nodes[choices.below(static_cast<uint32_t>(count))];
  CUgraphNodeType type = CU_GRAPH_NODE_TYPE_EMPTY;
  SLUICE_CALL(cuGraphNodeGetType, node, &type);
  CUcontext context = nullptr;
  SLUICE_CALL(cuCtxGetCurrent, &context);
  if (type == CU_GRAPH_NODE_TYPE_KERNEL) {
    CUDA_KERNEL_NODE_PARAMS launch = {};
    SLUICE_CALL(cuGraphKernelNodeGetParams_v2, node, &launch);
    uint32_t words = choices.fewer(*static_cast<uint32_t*>(launch.kernelParams[2]));
    uint32_t number = choices.number();
    void* parameters[] = {launch.kernelParams[0], launch.kernelParams[1], &words, &number};
    launch.kernelParams = parameters;
    SLUICE_CALL(cuGraphExecKernelNodeSetParams_v2, executable, node, &launch);
  } else if (type == CU_GRAPH_NODE_TYPE_MEMSET) {
    CUDA_MEMSET_NODE_PARAMS fill = {};
    SLUICE_CALL(cuGraphMemsetNodeGetParams, node, &fill);
    fill.value = choices.number() % 256;
    fill.width = choices.fewer(static_cast<uint32_t>(fill.width));
    SLUICE_CALL(cuGraphExecMemsetNodeSetParams, executable, node, &fill, context);
  } else if (type == CU_GRAPH_NODE_TYPE_MEMCPY) {
    CUDA_MEMCPY3D copy = {};
    SLUICE_CALL(cuGraphMemcpyNodeGetParams, node, &copy);
    copy.WidthInBytes = choices.fewer(static_cast<uint32_t>(copy.WidthInBytes));
    SLUICE_CALL(cuGraphExecMemcpyNodeSetParams, executable, node, &copy, context);
  }
}

}  // namespace sluice::random_programs
