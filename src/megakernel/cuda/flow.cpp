#include "megakernel/cuda/flow.hpp"

#include <algorithm>
#include <set>
#include <string>

#include "megakernel/cuda/flow_graph.hpp"
#include "megakernel/cuda/operands.hpp"
#include "megakernel/cuda/uniformity.hpp"

namespace sluice::megakernel {
namespace {

using ptx::Function;
using ptx::Instruction;
using ptx::Module;

// What a function does, calls included.
struct Doings {
  bool barrier = false;
  bool warp_operation = false;
};

Doings doings_of(const Module& module, const Function& function, std::set<std::string>& seen);

Doings doings_of(const Module& module, const Instruction& instruction,
                 std::set<std::string>& seen) {
  Doings doings{is_block_barrier(instruction), is_warp_operation(instruction)};
  if (instruction.opcode != "call") return doings;
  const Function* callee = module.find_function(called_function(instruction));
  return callee == nullptr ? doings : doings_of(module, *callee, seen);
}

Doings doings_of(const Module& module, const Function& function, std::set<std::string>& seen) {
  Doings doings;
  if (!seen.insert(function.name).second) return doings;
  for_each_statement(function.body, [&](const ptx::Statement& statement) {
    const auto* instruction = std::get_if<Instruction>(&statement);
    if (instruction == nullptr) return;
    const Doings more = doings_of(module, *instruction, seen);
    doings.barrier |= more.barrier;
    doings.warp_operation |= more.warp_operation;
  });
  return doings;
}

// reaching() marks the nodes from which a node of `goals` is reached, the goals included; paths
// do not lead on through a node of `walls`.
std::vector<bool> reaching(const FlowGraph& graph, const std::vector<bool>& goals,
                           const std::vector<bool>& walls) {
  std::vector<bool> marked = goals;
  for (bool changed = true; changed;) {
    changed = false;
    for (size_t node = graph.nodes.size(); node-- > 0;) {
      if (marked[node] || walls[node]) continue;
      const auto& next = graph.nodes[node].successors;
      if (std::any_of(next.begin(), next.end(), [&](size_t to) { return marked[to]; })) {
        marked[node] = changed = true;
      }
    }
  }
  return marked;
}

// meets_before_rejoining() says whether a node of `meetings` lies between a branch and where all
// its ways meet again. Where none does, and none ends before, the threads come to that place as
// they came to the branch, so the branch parts none of them.
bool meets_before_rejoining(const FlowGraph& graph, size_t node, size_t rejoin,
                            const std::vector<bool>& meetings) {
  std::vector<bool> seen(graph.nodes.size(), false);
  std::vector<size_t> pending = graph.nodes[node].successors;
  while (!pending.empty()) {
    const size_t current = pending.back();
    pending.pop_back();
    if (current == rejoin || seen[current]) continue;
    seen[current] = true;
    if (meetings[current]) return true;
    const auto& next = graph.nodes[current].successors;
    pending.insert(pending.end(), next.begin(), next.end());
  }
  return false;
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

}  // namespace

bool is_block_barrier(const Instruction& instruction) {
  return (instruction.opcode == "bar" || instruction.opcode == "barrier") &&
         !instruction.has_modifier("warp");
}

bool is_warp_operation(const Instruction& instruction) {
  const std::string& opcode = instruction.opcode;
  return opcode == "shfl" || opcode == "vote" || opcode == "match" || opcode == "redux" ||
         opcode == "elect" || (opcode == "bar" && instruction.has_modifier("warp")) ||
         opcode == "wmma" || opcode == "mma" || opcode == "ldmatrix" || opcode == "stmatrix" ||
         opcode == "movmatrix";
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
  std::set<std::string> seen;
  const Doings all = doings_of(module, kernel, seen);
  FlowFacts facts;
  facts.has_barrier = all.barrier;
  facts.has_warp_operation = all.warp_operation;
  if (!all.barrier && !all.warp_operation) return facts;

  const FlowGraph graph = make_flow_graph(kernel);
  std::vector<bool> barriers(graph.nodes.size(), false);
  std::vector<bool> warp_operations(graph.nodes.size(), false);
  for (size_t node = 0; node < graph.nodes.size(); ++node) {
    for (const Instruction* instruction : graph.nodes[node].instructions) {
      std::set<std::string> called;
      const Doings doings = doings_of(module, *instruction, called);
      if (doings.barrier) barriers[node] = true;
      if (doings.warp_operation) warp_operations[node] = true;
    }
  }
  const Divergence divergence = find_divergence(graph, block);
  facts.ends_before_barrier = parts_ways(graph, barriers, divergence.in_block);
  facts.ends_before_warp_operation = parts_ways(graph, warp_operations, divergence.in_warp);
  return facts;
}

}  // namespace sluice::megakernel
