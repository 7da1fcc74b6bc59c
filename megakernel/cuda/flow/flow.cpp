#include "megakernel/cuda/flow/flow.hpp"

#include <algorithm>
#include <set>
#include <string>

#include "megakernel/cuda/flow/flow_graph.hpp"
#include "megakernel/cuda/flow/uniformity.hpp"
#include "megakernel/cuda/flow/warp_exchanges.hpp"
#include "ptx/visit.hpp"

namespace sluice::megakernel {
namespace {

using ptx::Function;
using ptx::Instruction;
using ptx::Meeting;
using ptx::Module;
using ptx::Opcode;

// collect() lists a function and what it calls, itself first.
void collect(const Module& module, const Function& function,
             std::vector<const Function*>& functions) {
  if (std::find(functions.begin(), functions.end(), &function) != functions.end()) return;
  functions.push_back(&function);
  ptx::for_each_instruction(function.body, [&](const Instruction& instruction) {
    if (instruction.opcode != Opcode::call) return;
    const Function* callee = module.find_function(called_function(instruction));
    if (callee != nullptr) collect(module, *callee, functions);
  });
}

// Visits the instruction and, where it is a call, everything that it calls.
template <class Visit>
void for_each_behind(const Module& module, const Instruction& instruction, Visit&& visit) {
  visit(instruction);
  const Function* callee = instruction.opcode == Opcode::call
                               ? module.find_function(called_function(instruction))
                               : nullptr;
  if (callee == nullptr) return;
  std::vector<const Function*> functions;
  collect(module, *callee, functions);
  for (const Function* function : functions)
    ptx::for_each_instruction(function->body, visit);
}

// The nodes that meet a barrier of the block, themselves or in what they call.
std::vector<bool> nodes_with_barriers(const Module& module, const FlowGraph& graph) {
  std::vector<bool> nodes(graph.nodes.size(), false);
  for (size_t node = 0; node < graph.nodes.size(); ++node) {
    for (const Instruction* instruction : graph.nodes[node].instructions) {
      for_each_behind(module, *instruction, [&](const Instruction& inner) {
        if (inner.meeting() == Meeting::block) nodes[node] = true;
      });
    }
  }
  return nodes;
}

// Lanes may part before a call: then every exchange behind it may name one that ends.
void add_exchanges_behind_calls(const Module& module, const FlowGraph& graph,
                                const std::vector<bool>& diverges,
                                std::set<const Instruction*>& exchanges) {
  for (size_t node = 0; node < graph.nodes.size(); ++node) {
    // A node ends at a call.
    const auto& instructions = graph.nodes[node].instructions;
    if (instructions.empty() || instructions.back()->opcode != Opcode::call) continue;
    const std::vector<bool> none(graph.nodes.size(), false);
    std::vector<bool> meeting = none;
    meeting[node] = true;
    if (!instructions.back()->guard && !parts_ways(graph, meeting, none, diverges)) continue;
    for_each_behind(module, *instructions.back(), [&](const Instruction& inner) {
      if (inner.meeting() == Meeting::lanes) exchanges.insert(&inner);
    });
  }
}

}  // namespace

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
    ptx::for_each_instruction(function->body, [&](const Instruction& instruction) {
      const Meeting meeting = instruction.meeting();
      facts.has_barrier |= meeting == Meeting::block;
      facts.has_matrix_operation |= meeting == Meeting::warp;
      if (meeting == Meeting::lanes) exchanges.insert(&instruction);
      facts.asks_who_is_active |=
          meeting == Meeting::none && instruction.info().gives == ptx::Gives::present;
    });
  }
  if (!facts.has_barrier && exchanges.empty()) return facts;
  for (const Function* function : functions) {
    const FlowGraph graph = make_flow_graph(*function);
    const Divergence divergence = find_divergence(graph, *function, block);
    const std::vector<bool> barriers = nodes_with_barriers(module, graph);
    const std::vector<bool> none(graph.nodes.size(), false);
    facts.ends_before_barrier |= parts_ways(graph, barriers, none, divergence.in_block);
    facts.exchanges_past_ends.merge(
        exchanges_past_ends(graph, *function, block, divergence.in_warp));
    add_exchanges_behind_calls(module, graph, divergence.in_warp, facts.exchanges_past_ends);
  }
  if (block.count() % 32 != 0) facts.exchanges_past_ends = std::move(exchanges);
  return facts;
}

}  // namespace sluice::megakernel
