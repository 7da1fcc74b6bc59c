// Graphs: nodes of captured operations with an order among them, and what is instantiated of them.
#pragma once

#include <memory>
#include <utility>
#include <vector>

#include "hostcuda/driver/device/cuda_api.hpp"
#include "hostcuda/driver/device/handle_table.hpp"
#include "hostcuda/driver/graph/conditional.hpp"
#include "hostcuda/driver/graph/user_object.hpp"
#include "hostcuda/driver/stream/operation.hpp"
#include "hostcuda/driver/stream/stream.hpp"

namespace sluice::hostcuda {

class Graph;
class GraphExec;
struct GraphNode;

// The handles that the program holds. find_node() knows every node of a living graph; nullptr for
// any other handle. Thread-safe.
HandleTable<Graph, CUgraph>& known_graphs();
HandleTable<GraphExec, CUgraphExec>& known_graph_execs();
HandleTable<Condition, CUgraphConditionalHandle>& known_conditions();
std::shared_ptr<GraphNode> find_node(CUgraphNode handle);

// GraphNode is what a CUgraphNode stands for. Like CUDA's own graphs, nodes and graphs are for one
// thread at a time.
struct GraphNode {
  Graph* graph = nullptr;
  SharedOperation operation;
  std::vector<GraphNode*> after;  // of the same graph
  std::shared_ptr<Graph> child;   // of a child graph's node
  std::shared_ptr<Event> event;   // of an event's node
  CUdeviceptr memory = 0;         // of an allocation's node, and of a free's
  GraphNode* original = nullptr;  // of a node in a clone
  // Of a conditional node, with their handles, which the program reads where they stand.
  std::vector<std::shared_ptr<Graph>> bodies;
  std::vector<CUgraph> body_handles;

  CUgraphNodeType type() const { return operation->node_type(); }
  CUgraphNode handle() { return reinterpret_cast<CUgraphNode>(this); }
};

// SequenceOperation runs operations one after the other: a child graph, or a whole graph. A graph's
// independent branches run in turn, which is one of the orders that CUDA allows; each operation
// spreads over all processors by itself.
class SequenceOperation final : public Operation {
 public:
  // `references` live as long as the operation does.
  explicit SequenceOperation(std::vector<SharedOperation> operations,
                             const UserReferences& references = {})
      : operations_(std::move(operations)), references_(references) {}
  CUresult run(BlockPool& pool) const override;
  bool calls_the_program() const override;
  bool may_wait_for_host() const override;
  CUgraphNodeType node_type() const override { return CU_GRAPH_NODE_TYPE_GRAPH; }
  // False too where something must live as long as the operation.
  bool describe(std::vector<SluiceGraphStep>& steps) const override;

 private:
  const std::vector<SharedOperation> operations_;
  const UserReferences references_;
};

class Graph {
 public:
  Graph() = default;
  Graph(const Graph&) = delete;
  ~Graph();

  // add() makes a node after the nodes given.
  const std::shared_ptr<GraphNode>& add(SharedOperation operation, std::vector<GraphNode*> after);
  void remove(GraphNode& node);

  const std::vector<std::shared_ptr<GraphNode>>& nodes() const { return nodes_; }
  bool owns(const GraphNode* node) const { return node != nullptr && node->graph == this; }

  // in_order() lists the nodes so that each stands behind those it comes after; empty where they go
  // in circles.
  std::vector<GraphNode*> in_order() const;
  // sequence() is the whole graph as one operation.
  std::shared_ptr<const SequenceOperation> sequence() const;
  // clone() copies the nodes; null where one is conditional, which CUDA does not copy either.
  std::shared_ptr<Graph> clone() const;

  // What the graph keeps of user objects; clones and what is instantiated keep it too.
  UserReferences& user_references() { return user_references_; }
  const UserReferences& user_references() const { return user_references_; }

  void add_condition(ConditionRef condition) { conditions_.push_back(std::move(condition)); }
  // defaults() is what a launch begins with: conditions get their default values. Null where
  // there is nothing to do.
  SharedOperation defaults() const;

 private:
  std::vector<std::shared_ptr<GraphNode>> nodes_;
  std::vector<ConditionRef> conditions_;
  UserReferences user_references_;
};

// GraphExec is what a CUgraphExec stands for: the graph as it was when it was instantiated, with
// operations that can be exchanged. It keeps the nodes as names for them.
class GraphExec {
 public:
  explicit GraphExec(const Graph& graph, unsigned long long flags);

  unsigned long long flags() const { return flags_; }
  // set() exchanges a node's operation; CUDA_ERROR_INVALID_VALUE where the node is none of these or
  // has another type.
  CUresult set(const GraphNode& node, SharedOperation operation);
  // set_event() exchanges an event's node's operation and event.
  CUresult set_event(const GraphNode& node, SharedOperation operation,
                     std::shared_ptr<Event> event);
  CUresult set_enabled(const GraphNode& node, bool enabled);
  CUresult is_enabled(const GraphNode& node, bool* enabled) const;
  // update() takes the operations of a graph of the same shape; false where the shapes differ.
  bool update(const Graph& graph);

  // sequence() is what a launch runs; steps() the same in the form of block_abi.h, none where that
  // cannot say it.
  SharedOperation sequence();
  SluiceGraphSteps steps();
  // begin_in() says in which stream a launch begins, and is that of the one before, which it comes
  // after. last_stream() may be gone.
  StreamRef begin_in(const StreamRef& stream) { return std::exchange(last_stream_, stream).lock(); }
  StreamRef last_stream() const { return last_stream_.lock(); }
  // The events that a launch waits for and records.
  std::vector<std::shared_ptr<Event>> waits() const {
    return events_of(CU_GRAPH_NODE_TYPE_WAIT_EVENT);
  }
  std::vector<std::shared_ptr<Event>> records() const {
    return events_of(CU_GRAPH_NODE_TYPE_EVENT_RECORD);
  }

 private:
  struct Step {
    std::shared_ptr<GraphNode> node;
    std::vector<size_t> after;  // steps
    SharedOperation operation;
    std::shared_ptr<Event> event;
    bool enabled = true;
  };
  static std::vector<Step> steps_of(const Graph& graph);
  Step* find(const GraphNode& node);
  // describe() tells all steps anew; describe_changed() those that changed, and is false where they
  // tell more or fewer than before.
  void describe();
  bool describe_changed();
  std::vector<std::shared_ptr<Event>> events_of(CUgraphNodeType type) const;

  const unsigned long long flags_;
  const SharedOperation defaults_;  // null where there are none
  std::vector<Step> steps_;
  UserReferences user_references_;
  SharedOperation sequence_;  // null where a step has changed
  // Described are the steps as they were told last; none where they can't be.
  struct Described {
    std::vector<SluiceGraphStep> steps;
    std::vector<size_t> begin;  // of each of steps_, and the end of the last
    uint64_t version = 0;       // 0: all must be told anew
  };
  Described described_;
  std::vector<size_t> changed_;  // of steps_, since then
  std::weak_ptr<Stream> last_stream_;
};

}  // namespace sluice::hostcuda
