#include "megakernel/cuda/flow/flow_graph.hpp"

#include <algorithm>
#include <map>
#include <string>

#include "base/post_dominance.hpp"
#include "ptx/visit.hpp"

namespace sluice::megakernel {
namespace {

using ptx::Effect;
using ptx::Instruction;

bool ends_thread(const Instruction& instruction) {
  return instruction.info().effect == Effect::exit;
}

bool is_branch(const Instruction& instruction) {
  return instruction.info().effect == Effect::branch;
}

// Builder reads the text twice: once for nodes and labels, then for the edges.
class Builder {
 public:
  explicit Builder(const ptx::Function& function) {
    graph_.nodes.emplace_back();
    ptx::for_each_statement(function.body,
                            [&](const ptx::Statement& statement) { take(statement); });
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
    find_rejoins();
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
                        instruction->info().effect == Effect::barrier ||
                        instruction->info().effect == Effect::call;
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
    } else if (last->opcode == ptx::Opcode::bra) {
      add_target(successors, name_of(last->operands.at(0)));
    } else {
      for (const std::string& target : targets_[name_of(last->operands.at(1))])
        add_target(successors, target);
    }
  }

  void find_rejoins() {
    std::vector<std::vector<unsigned>> successors;
    for (const FlowGraph::Node& node : graph_.nodes)
      successors.emplace_back(node.successors.begin(), node.successors.end());
    const PostDominance post_dominance(successors);
    for (unsigned node = 0; node < graph_.nodes.size(); ++node)
      graph_.nodes[node].rejoin = post_dominance.immediate(node).value_or(graph_.end);
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

}  // namespace sluice::megakernel
