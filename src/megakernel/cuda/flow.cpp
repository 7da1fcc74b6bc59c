#include "megakernel/cuda/flow.hpp"

#include <algorithm>
#include <set>
#include <string>

#include "megakernel/cuda/flow_graph.hpp"
#include "megakernel/cuda/operands.hpp"
#include "megakernel/cuda/uniformity.hpp"
#include "megakernel/cuda/warp_exchanges.hpp"

namespace sluice::megakernel {
namespace {

using ptx::Function;
using ptx::Instruction;
using ptx::Module;

template <class Visit>
void for_each_instruction(const Function& function, Visit&& visit) {
  for_each_statement(function.body, [&](const ptx::Statement& statement) {
    if (const auto* instruction = std::get_if<Instruction>(&statement)) visit(*instruction);
  });
}

// collect() lists a function and what it calls, itself first.
void collect(const Module& module, const Function& function,
             std::vector<const Function*>& functions) {
  if (std::find(functions.begin(), functions.end(), &function) != functions.end()) return;
  functions.push_back(&function);
  for_each_instruction(function, [&](const Instruction& instruction) {
    if (instruction.opcode != "call") return;
    const Function* callee = module.find_function(called_function(instruction));
    if (callee != nullptr) collect(module, *callee, functions);
  });
}

// Visits the instruction and, where it is a call, everything that it calls.
template <class Visit>
void for_each_behind(const Module& module, const Instruction& instruction, Visit&& visit) {
  visit(instruction);
  const Function* callee =
      instruction.opcode == "call" ? module.find_function(called_function(instruction)) : nullptr;
  if (callee == nullptr) return;
  std::vector<const Function*> functions;
  collect(module, *callee, functions);
  for (const Function* function : functions)
    for_each_instruction(*function, visit);
}

// The nodes that meet a barrier of the block, themselves or in what they call.
std::vector<bool> nodes_with_barriers(const Module& module, const FlowGraph& graph) {
  std::vector<bool> nodes(graph.nodes.size(), false);
  for (size_t node = 0; node < graph.nodes.size(); ++node) {
    for (const Instruction* instruction : graph.nodes[node].instructions) {
      for_each_behind(module, *instruction, [&](const Instruction& inner) {
        if (is_block_barrier(inner)) nodes[node] = true;
      });
    }
  }
  return nodes;
}

// parts_ways() says whether at some branch that threads may take differently one way ends without
// passing a node of `meetings` and another one leads to such a node.
bool parts_ways(const FlowGraph& graph, const std::vector<bool>& meetings,
                const std::vector<bool>& diverges) {
  std::vector<bool> ends(graph.nodes.size(), false);
  ends[graph.end] = true;
  const std::vector<bool> none(graph.nodes.size(), false);
  const std::vector<bool> may_end = reaching(graph, ends, meetings);
  const std::vector<bool> may_meet = reaching(graph, meetings, none);
  const std::vector<size_t> rejoins = immediate_post_dominators(graph);
  for (size_t node = 0; node < graph.nodes.size(); ++node) {
    const auto& next = graph.nodes[node].successors;
    if (next.size() < 2 || !diverges[node]) continue;
    if (rejoins[node] != graph.end &&
        !meets_before_rejoining(graph, node, rejoins[node], meetings)) {
      continue;
    }
    if (std::any_of(next.begin(), next.end(), [&](size_t to) { return may_end[to]; }) &&
        std::any_of(next.begin(), next.end(), [&](size_t to) { return may_meet[to]; })) {
      return true;
    }
  }
  return false;
}

// Lanes may part before a call: then every exchange behind it may name one that ends.
void add_exchanges_behind_calls(const Module& module, const FlowGraph& graph,
                                const std::vector<bool>& diverges,
                                std::set<const Instruction*>& exchanges) {
  for (size_t node = 0; node < graph.nodes.size(); ++node) {
    // A node ends at a call.
    const auto& instructions = graph.nodes[node].instructions;
    if (instructions.empty() || instructions.back()->opcode != "call") continue;
    std::vector<bool> meeting(graph.nodes.size(), false);
    meeting[node] = true;
    if (!instructions.back()->guard && !parts_ways(graph, meeting, diverges)) continue;
    for_each_behind(module, *instructions.back(), [&](const Instruction& inner) {
      if (is_exchange(inner)) exchanges.insert(&inner);
    });
  }
}

}  // namespace

bool is_block_barrier(const Instruction& instruction) {
  return (instruction.opcode == "bar" || instruction.opcode == "barrier") &&
         !instruction.has_modifier("warp");
}

std::string_view called_function(const Instruction& call) {
  for (const ptx::Operand& operand : call.operands) {
    if (const auto* name = std::get_if<ptx::Identifier>(&operand.value)) {
      return name->name.starts_with("%") ? std::string_view{} : std::string_view(name->name);
    }
  }
  return {};
}

FlowFacts examine_flow(const Module& module, const Function& kernel, const Dim3& block) {
  std::vector<const Function*> functions;
  collect(module, kernel, functions);
  FlowFacts facts;
  std::set<const Instruction*> exchanges;
  for (const Function* function : functions) {
    for_each_instruction(*function, [&](const Instruction& instruction) {
      facts.has_barrier |= is_block_barrier(instruction);
      facts.has_matrix_operation |= is_matrix_operation(instruction);
      facts.asks_who_is_active |= instruction.opcode == "activemask";
      if (is_exchange(instruction)) exchanges.insert(&instruction);
    });
  }
  if (!facts.has_barrier && exchanges.empty()) return facts;
  for (const Function* function : functions) {
    const FlowGraph graph = make_flow_graph(*function);
    const Divergence divergence = find_divergence(graph, *function, block);
    const std::vector<bool> barriers = nodes_with_barriers(module, graph);
    facts.ends_before_barrier |= parts_ways(graph, barriers, divergence.in_block);
    facts.exchanges_past_ends.merge(
        exchanges_past_ends(graph, *function, block, divergence.in_warp));
    add_exchanges_behind_calls(module, graph, divergence.in_warp, facts.exchanges_past_ends);
  }
  if (block.count() % 32 != 0) facts.exchanges_past_ends = std::move(exchanges);
  return facts;
}

}  // namespace sluice::megakernel
