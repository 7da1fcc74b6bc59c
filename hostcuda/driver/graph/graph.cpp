#include "hostcuda/driver/graph/graph.hpp"

#include <algorithm>
#include <atomic>
#include <unordered_map>

namespace sluice::hostcuda {
namespace {

uint64_t next_version() {
  static std::atomic<uint64_t> last{0};
  return ++last;
}

HandleTable<GraphNode, CUgraphNode>& known_nodes() {
  static auto* table = new HandleTable<GraphNode, CUgraphNode>;
  return *table;
}

// What a node does: the bodies of a conditional one are as they are now.
SharedOperation operation_of(const GraphNode& node) {
  if (node.bodies.empty()) return node.operation;
  const auto& conditional = static_cast<const ConditionalOperation&>(*node.operation);
  std::vector<SharedOperation> bodies;
  for (const std::shared_ptr<Graph>& body : node.bodies)
    bodies.push_back(body->sequence());
  return std::make_shared<const ConditionalOperation>(conditional.condition(), conditional.type(),
                                                      std::move(bodies));
}

// The program has no other way to end a conditional node's bodies.
void drop_bodies(GraphNode& node) {
  for (CUgraph handle : node.body_handles)
    known_graphs().remove(handle);
  node.bodies.clear();
  node.body_handles.clear();
}

}  // namespace

HandleTable<Graph, CUgraph>& known_graphs() {
  static auto* table = new HandleTable<Graph, CUgraph>;
  return *table;
}

HandleTable<GraphExec, CUgraphExec>& known_graph_execs() {
  static auto* table = new HandleTable<GraphExec, CUgraphExec>;
  return *table;
}

HandleTable<Condition, CUgraphConditionalHandle>& known_conditions() {
  static auto* table = new HandleTable<Condition, CUgraphConditionalHandle>;
  return *table;
}

std::shared_ptr<GraphNode> find_node(CUgraphNode handle) {
  return known_nodes().find(handle);
}

CUresult SequenceOperation::run(BlockPool& pool) const {
  for (const SharedOperation& operation : operations_) {
    if (const CUresult result = operation->run(pool); result != CUDA_SUCCESS) return result;
  }
  return CUDA_SUCCESS;
}

bool SequenceOperation::describe(std::vector<SluiceGraphStep>& steps) const {
  return references_.empty() && std::ranges::all_of(operations_, [&](const SharedOperation& one) {
           return one->describe(steps);
         });
}

bool SequenceOperation::calls_the_program() const {
  return std::any_of(operations_.begin(), operations_.end(), [](const SharedOperation& operation) {
    return operation->calls_the_program();
  });
}

bool SequenceOperation::may_wait_for_host() const {
  return std::ranges::any_of(operations_, &Operation::may_wait_for_host,
                             [](const SharedOperation& one) -> const Operation& { return *one; });
}

Graph::~Graph() {
  // Executable graphs keep nodes as names; they must not lead back here.
  for (const std::shared_ptr<GraphNode>& node : nodes_) {
    known_nodes().remove(node->handle());
    node->graph = nullptr;
    node->after.clear();
    drop_bodies(*node);
  }
  for (const ConditionRef& condition : conditions_)
    known_conditions().remove(condition->handle());
}

const std::shared_ptr<GraphNode>& Graph::add(SharedOperation operation,
                                             std::vector<GraphNode*> after) {
  auto node = std::make_shared<GraphNode>();
  node->graph = this;
  node->operation = std::move(operation);
  node->after = std::move(after);
  known_nodes().add(node);
  return nodes_.emplace_back(std::move(node));
}

void Graph::remove(GraphNode& node) {
  for (const std::shared_ptr<GraphNode>& other : nodes_)
    std::erase(other->after, &node);
  node.graph = nullptr;
  known_nodes().remove(node.handle());
  drop_bodies(node);
  std::erase_if(nodes_, [&](const auto& entry) { return entry.get() == &node; });
}

std::vector<GraphNode*> Graph::in_order() const {
  std::unordered_map<const GraphNode*, size_t> waits_for;
  std::unordered_map<const GraphNode*, std::vector<GraphNode*>> before;
  std::vector<GraphNode*> order;
  for (const std::shared_ptr<GraphNode>& node : nodes_) {
    waits_for[node.get()] = node->after.size();
    for (const GraphNode* earlier : node->after)
      before[earlier].push_back(node.get());
    if (node->after.empty()) order.push_back(node.get());
  }
  for (size_t i = 0; i < order.size(); ++i) {
    for (GraphNode* later : before[order[i]]) {
      if (--waits_for[later] == 0) order.push_back(later);
    }
  }
  if (order.size() != nodes_.size()) order.clear();
  return order;
}

std::shared_ptr<const SequenceOperation> Graph::sequence() const {
  std::vector<SharedOperation> operations;
  if (SharedOperation first = defaults()) operations.push_back(std::move(first));
  for (const GraphNode* node : in_order())
    operations.push_back(operation_of(*node));
  return std::make_shared<const SequenceOperation>(std::move(operations), user_references_);
}

SharedOperation Graph::defaults() const {
  std::vector<ConditionRef> assigned;
  for (const ConditionRef& condition : conditions_) {
    if (condition->assigns_default) assigned.push_back(condition);
  }
  return assigned.empty() ? nullptr
                          : std::make_shared<const DefaultsOperation>(std::move(assigned));
}

std::shared_ptr<Graph> Graph::clone() const {
  for (const std::shared_ptr<GraphNode>& node : nodes_) {
    if (node->type() == CU_GRAPH_NODE_TYPE_CONDITIONAL) return nullptr;
  }
  auto copy = std::make_shared<Graph>();
  copy->user_references_ = user_references_;
  std::unordered_map<const GraphNode*, GraphNode*> twins;
  for (const std::shared_ptr<GraphNode>& node : nodes_) {
    const std::shared_ptr<GraphNode>& twin = copy->add(node->operation, {});
    twin->child = node->child == nullptr ? nullptr : node->child->clone();
    twin->event = node->event;
    twin->memory = node->memory;
    twin->original = node.get();
    twins[node.get()] = twin.get();
  }
  for (const std::shared_ptr<GraphNode>& node : nodes_) {
    for (const GraphNode* earlier : node->after)
      twins[node.get()]->after.push_back(twins[earlier]);
  }
  return copy;
}

GraphExec::GraphExec(const Graph& graph, unsigned long long flags)
    : flags_(flags),
      defaults_(graph.defaults()),
      steps_(steps_of(graph)),
      user_references_(graph.user_references()) {}

std::vector<GraphExec::Step> GraphExec::steps_of(const Graph& graph) {
  std::unordered_map<const GraphNode*, std::shared_ptr<GraphNode>> shared;
  for (const std::shared_ptr<GraphNode>& node : graph.nodes())
    shared[node.get()] = node;
  std::unordered_map<const GraphNode*, size_t> numbers;
  std::vector<Step> steps;
  for (const GraphNode* node : graph.in_order()) {
    numbers[node] = steps.size();
    Step step{shared[node], {}, operation_of(*node), node->event};
    for (const GraphNode* earlier : node->after)
      step.after.push_back(numbers[earlier]);
    std::sort(step.after.begin(), step.after.end());
    steps.push_back(std::move(step));
  }
  return steps;
}

GraphExec::Step* GraphExec::find(const GraphNode& node) {
  const auto found = std::find_if(steps_.begin(), steps_.end(),
                                  [&](const Step& step) { return step.node.get() == &node; });
  return found == steps_.end() ? nullptr : &*found;
}

CUresult GraphExec::set(const GraphNode& node, SharedOperation operation) {
  Step* step = find(node);
  if (step == nullptr || step->operation->node_type() != operation->node_type()) {
    return CUDA_ERROR_INVALID_VALUE;
  }
  step->operation = std::move(operation);
  sequence_.reset();
  changed_.push_back(static_cast<size_t>(step - steps_.data()));
  return CUDA_SUCCESS;
}

CUresult GraphExec::set_event(const GraphNode& node, SharedOperation operation,
                              std::shared_ptr<Event> event) {
  const CUresult result = set(node, std::move(operation));
  if (result == CUDA_SUCCESS) find(node)->event = std::move(event);
  return result;
}

CUresult GraphExec::set_enabled(const GraphNode& node, bool enabled) {
  Step* step = find(node);
  if (step == nullptr) return CUDA_ERROR_INVALID_VALUE;
  step->enabled = enabled;
  sequence_.reset();
  described_.version = 0;
  return CUDA_SUCCESS;
}

CUresult GraphExec::is_enabled(const GraphNode& node, bool* enabled) const {
  const Step* step = const_cast<GraphExec*>(this)->find(node);
  if (step == nullptr) return CUDA_ERROR_INVALID_VALUE;
  *enabled = step->enabled;
  return CUDA_SUCCESS;
}

bool GraphExec::update(const Graph& graph) {
  std::vector<Step> steps = steps_of(graph);
  const bool same = std::equal(
      steps.begin(), steps.end(), steps_.begin(), steps_.end(), [](const Step& a, const Step& b) {
        return a.after == b.after && a.operation->node_type() == b.operation->node_type();
      });
  if (!same) return false;
  for (size_t i = 0; i < steps.size(); ++i) {
    steps_[i].operation = std::move(steps[i].operation);
    steps_[i].event = std::move(steps[i].event);
    changed_.push_back(i);
  }
  user_references_ = graph.user_references();
  if (!user_references_.empty()) described_.version = 0;
  sequence_.reset();
  return true;
}

SharedOperation GraphExec::sequence() {
  if (sequence_ == nullptr) {
    std::vector<SharedOperation> operations;
    if (defaults_ != nullptr) operations.push_back(defaults_);
    for (const Step& step : steps_) {
      if (step.enabled) operations.push_back(step.operation);
    }
    sequence_ = std::make_shared<const SequenceOperation>(std::move(operations), user_references_);
  }
  return sequence_;
}

SluiceGraphSteps GraphExec::steps() {
  const bool is_new = described_.version == 0 || (!changed_.empty() && described_.steps.empty());
  if (is_new || !describe_changed()) describe();
  changed_.clear();
  return {described_.steps.data(), described_.steps.size(), described_.version};
}

void GraphExec::describe() {
  described_ = {.version = next_version()};
  std::vector<SluiceGraphStep>& steps = described_.steps;
  const bool is_told = defaults_ == nullptr && user_references_.empty() &&
                       std::ranges::all_of(steps_, [&](const Step& step) {
                         described_.begin.push_back(steps.size());
                         return !step.enabled || step.operation->describe(steps);
                       });
  if (!is_told) steps.clear();
  described_.begin.push_back(steps.size());
}

bool GraphExec::describe_changed() {
  if (changed_.empty()) return true;
  described_.version = next_version();
  std::vector<SluiceGraphStep> told;
  for (const size_t place : changed_) {
    const size_t begin = described_.begin[place], end = described_.begin[place + 1];
    told.clear();
    if (steps_[place].enabled && !steps_[place].operation->describe(told)) return false;
    if (told.size() != end - begin) return false;
    std::ranges::copy(told, described_.steps.begin() + static_cast<std::ptrdiff_t>(begin));
  }
  return true;
}

std::vector<std::shared_ptr<Event>> GraphExec::events_of(CUgraphNodeType type) const {
  std::vector<std::shared_ptr<Event>> events;
  for (const Step& step : steps_) {
    if (step.event != nullptr && step.operation->node_type() == type) events.push_back(step.event);
  }
  return events;
}

}  // namespace sluice::hostcuda
