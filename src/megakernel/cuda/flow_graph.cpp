#include "megakernel/cuda/flow_graph.hpp"

#include <algorithm>
#include <map>
#include <string>

#include "megakernel/cuda/operands.hpp"

namespace sluice::megakernel {
namespace {

using ptx::Instruction;

bool ends_thread(const Instruction& instruction) {
  return instruction.opcode == "ret" || instruction.opcode == "exit" ||
         instruction.opcode == "trap";
}

bool is_branch(const Instruction& instruction) {
  return instruction.opcode == "bra" || instruction.opcode == "brx";
}

// Builder reads the text twice: once for nodes and labels, then for the edges.
class Builder {
 public:
  explicit Builder(const ptx::Function& function) {
    graph_.nodes.emplace_back();
    for_each_statement(function.body, [&](const ptx::Statement& statement) { take(statement); });
    graph_.end = graph_.nodes.size();
    graph_.nodes.emplace_back();
  }

  FlowGraph finish() {
    for (size_t node = 0; node < graph_.end; ++node) {
      auto& successors = graph_.nodes[node].successors;
      connect(node);
      std::sort(successors.begin(), successors.end());
      successors.erase(std::unique(successors.begin(), successors.end()), successors.end());
    }
    return std::move(graph_);
  }

 private:
  void take(const ptx::Statement& statement) {
    if (const auto* label = std::get_if<ptx::Label>(&statement)) {
      if (!graph_.nodes.back().instructions.empty()) graph_.nodes.emplace_back();
      labels_[label->name] = graph_.nodes.size() - 1;
      pending_name_ = label->name;
    } else if (const auto* directive = std::get_if<ptx::Directive>(&statement)) {
      // `name: .branchtargets a, b;` follows its label.
      if (directive->name == "branchtargets") targets_[pending_name_] = directive->arguments;
    } else if (const auto* instruction = std::get_if<Instruction>(&statement)) {
      graph_.nodes.back().instructions.push_back(instruction);
      const bool cuts = is_branch(*instruction) || ends_thread(*instruction) ||
                        instruction->opcode == "bar" || instruction->opcode == "barrier" ||
                        instruction->opcode == "call";
      if (cuts) graph_.nodes.emplace_back();
    }
  }

  void connect(size_t node) {
    auto& successors = graph_.nodes[node].successors;
    const auto& instructions = graph_.nodes[node].instructions;
    const Instruction* last = instructions.empty() ? nullptr : instructions.back();
    const bool leaves = last != nullptr && (is_branch(*last) || ends_thread(*last));
    if (!leaves || last->guard) successors.push_back(node + 1);
    if (!leaves) return;
    if (ends_thread(*last)) {
      successors.push_back(graph_.end);
    } else if (last->opcode == "bra") {
      add_target(successors, name_of(last->operands.at(0)));
    } else {
      for (const std::string& target : targets_[name_of(last->operands.at(1))])
        add_target(successors, target);
    }
  }

  static std::string name_of(const ptx::Operand& operand) {
    const auto* name = std::get_if<ptx::Identifier>(&operand.value);
    return name == nullptr ? std::string() : name->name;
  }

  void add_target(std::vector<size_t>& successors, const std::string& label) {
    const auto found = labels_.find(label);
    successors.push_back(found == labels_.end() ? graph_.end : found->second);
  }

  FlowGraph graph_;
  std::map<std::string, size_t> labels_;
  std::map<std::string, std::vector<std::string>> targets_;
  std::string pending_name_;
};

}  // namespace

FlowGraph make_flow_graph(const ptx::Function& function) {
  return Builder(function).finish();
}

std::vector<size_t> immediate_post_dominators(const FlowGraph& graph) {
  const size_t count = graph.nodes.size();
  std::vector<std::vector<size_t>> predecessors(count);
  for (size_t node = 0; node < count; ++node) {
    for (const size_t next : graph.nodes[node].successors)
      predecessors[next].push_back(node);
  }
  // A walk of the reversed graph from the end; what it does not reach never ends.
  constexpr size_t unknown = SIZE_MAX;
  std::vector<size_t> number(count, unknown);
  std::vector<size_t> order;
  std::vector<std::pair<size_t, size_t>> stack = {{graph.end, 0}};
  std::vector<bool> seen(count, false);
  seen[graph.end] = true;
  while (!stack.empty()) {
    auto& [node, next] = stack.back();
    if (next < predecessors[node].size()) {
      const size_t to = predecessors[node][next++];
      if (!seen[to]) {
        seen[to] = true;
        stack.emplace_back(to, 0);
      }
    } else {
      number[node] = order.size();
      order.push_back(node);
      stack.pop_back();
    }
  }
  std::vector<size_t> immediate(count, unknown);
  immediate[graph.end] = graph.end;
  const auto meet = [&](size_t a, size_t b) {
    while (a != b) {
      while (number[a] < number[b])
        a = immediate[a];
      while (number[b] < number[a])
        b = immediate[b];
    }
    return a;
  };
  for (bool changed = true; changed;) {
    changed = false;
    for (size_t i = order.size() - 1; i-- > 0;) {
      const size_t node = order[i];
      size_t found = unknown;
      for (const size_t next : graph.nodes[node].successors) {
        if (immediate[next] == unknown) continue;
        found = found == unknown ? next : meet(found, next);
      }
      if (found != immediate[node]) {
        immediate[node] = found;
        changed = true;
      }
    }
  }
  std::replace(immediate.begin(), immediate.end(), unknown, graph.end);
  return immediate;
}

}  // namespace sluice::megakernel
