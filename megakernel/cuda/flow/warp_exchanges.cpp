#include "megakernel/cuda/flow/warp_exchanges.hpp"

#include <algorithm>
#include <optional>
#include <string>

#include "megakernel/cuda/flow/definitions.hpp"
#include "megakernel/cuda/flow/uniformity.hpp"

namespace sluice::megakernel {
namespace {

using ptx::Instruction;
using ptx::Opcode;

// Longer chains of moves and conjunctions than this are not looked through.
constexpr int longest_chain = 8;

bool is_exchange(const Instruction& instruction) {
  return instruction.meeting() == ptx::Meeting::lanes;
}

// Origin is the instruction at which the lanes of a mask were together.
struct Origin {
  const Definition* definition = nullptr;
  std::string ballot;  // the predicate that told which lanes, where one did
};

class Exchanges {
 public:
  Exchanges(const FlowGraph& graph, const ptx::Function& function, const Dim3& block,
            const std::vector<bool>& diverges)
      : graph_(graph),
        function_(function),
        block_(block),
        diverges_(diverges),
        definitions_(graph) {}

  std::set<const Instruction*> past_ends() const {
    std::set<const Instruction*> found;
    for (size_t node = 0; node < graph_.nodes.size(); ++node) {
      // Between exchanges of one node nobody ends, so only their masks may differ.
      const std::vector<bool> here = only(node);
      if (!has_exchange(node)) continue;
      const bool parts = parts_ways(graph_, here, none(), diverges_);
      for (size_t index = 0; index < graph_.nodes[node].instructions.size(); ++index) {
        const Instruction* exchange = graph_.nodes[node].instructions[index];
        if (!is_exchange(*exchange)) continue;
        // Under a guard, lanes pass it without taking part.
        const bool is_open = exchange->guard ||
                             (parts && !made_by_those_who_come(*exchange, {exchange, node, index}));
        if (is_open) found.insert(exchange);
      }
    }
    return found;
  }

 private:
  bool has_exchange(size_t node) const {
    const auto& instructions = graph_.nodes[node].instructions;
    return std::any_of(instructions.begin(), instructions.end(),
                       [](const Instruction* instruction) { return is_exchange(*instruction); });
  }

  std::vector<bool> none() const { return std::vector<bool>(graph_.nodes.size(), false); }
  static std::vector<bool> both(std::vector<bool> a, const std::vector<bool>& b) {
    for (size_t i = 0; i < a.size(); ++i)
      a[i] = a[i] && b[i];
    return a;
  }
  std::vector<bool> only(size_t node) const {
    std::vector<bool> nodes = none();
    nodes[node] = true;
    return nodes;
  }

  // Whether every lane that the exchange's mask names comes to it, ends or not.
  bool made_by_those_who_come(const Instruction& exchange, const Definition& place) const {
    const std::optional<Origin> origin = origin_of(exchange.operands.back(), longest_chain);
    if (!origin) return false;
    const Definition& made = *origin->definition;
    if (made.node == place.node) return made.index < place.index;
    const std::vector<bool> meeting = only(place.node);
    const std::vector<bool> again = only(made.node);
    // The mask was made on every way to the exchange, or it is not known which one it is.
    if (reaching(graph_, meeting, again)[0]) return false;
    const std::vector<bool> between = nodes_between(made.node, reaching(graph_, meeting, again));
    if (!parts_ways(graph_, meeting, again, both(between, diverges_))) return true;
    if (!is_still_valid(*origin, between)) return false;
    return !parts_ways(graph_, meeting, again,
                       both(between, divergence_of_voters(*origin, between)));
  }

  // The nodes that lanes come through after `from` (included) and before it again, as far as they
  // lead to the exchange: `leads`.
  std::vector<bool> nodes_between(size_t from, const std::vector<bool>& leads) const {
    std::vector<bool> seen = only(from);
    std::vector<size_t> pending = {from};
    while (!pending.empty()) {
      const size_t current = pending.back();
      pending.pop_back();
      for (const size_t next : graph_.nodes[current].successors) {
        if (!leads[next] || seen[next]) continue;
        seen[next] = true;
        pending.push_back(next);
      }
    }
    return seen;
  }

  // Whether the ballot's predicate is the same value all the way between.
  bool is_still_valid(const Origin& origin, const std::vector<bool>& between) const {
    const Definition* definition = definitions_.only(origin.ballot);
    if (definition == nullptr) return false;
    const Definition& made = *origin.definition;
    return definition->node == made.node ? definition->index < made.index
                                         : !between[definition->node];
  }

  // Where lanes that a ballot named may part in `between`.
  std::vector<bool> divergence_of_voters(const Origin& origin,
                                         const std::vector<bool>& between) const {
    const std::vector<bool> alike = branches_by(origin.ballot, between);
    const size_t node = origin.definition->node;
    const auto& next = graph_.nodes[node].successors;
    const std::vector<bool> back = reaching(graph_, only(node), none());
    const bool is_in_loop =
        std::any_of(next.begin(), next.end(), [&](size_t to) { return back[to]; });
    if (!is_in_loop) return find_divergence(graph_, function_, block_, alike).in_warp;
    // In earlier turns they may have gone other ways, and carry what differs.
    std::vector<bool> others = alike;
    others.flip();
    return both(std::move(others), diverges_);
  }

  // Those of `branches` that all lanes of a ballot by `predicate` take alike.
  std::vector<bool> branches_by(const std::string& predicate,
                                const std::vector<bool>& branches) const {
    std::vector<bool> found = none();
    for (size_t node = 0; node < graph_.nodes.size(); ++node) {
      if (!branches[node] || graph_.nodes[node].instructions.empty()) continue;
      const Instruction& last = *graph_.nodes[node].instructions.back();
      found[node] = last.guard && last.opcode != Opcode::brx &&
                    tell_the_same(last.guard->predicate, predicate, definitions_);
    }
    return found;
  }

  std::optional<Origin> origin_of(const ptx::Operand& mask, int chain) const {
    const auto* name = std::get_if<ptx::Identifier>(&mask.value);
    if (name == nullptr || chain == 0) return {};
    const Definition* definition = definitions_.only(name->name);
    if (definition == nullptr || definition->instruction->guard) return {};
    const Instruction& made = *definition->instruction;
    if (made.info().gives == ptx::Gives::present) return Origin{definition, {}};
    if (made.opcode == Opcode::vote && is_exchange(made) && made.has_modifier("ballot")) {
      return Origin{definition, predicate_of(made.operands.at(1))};
    }
    if (made.opcode == Opcode::mov) return origin_of(made.operands.at(1), chain - 1);
    if (made.opcode == Opcode::and_) {
      // Both bound the mask; the first that is known will do.
      if (auto origin = origin_of(made.operands.at(1), chain - 1)) return origin;
      return origin_of(made.operands.at(2), chain - 1);
    }
    return {};
  }

  static std::string predicate_of(const ptx::Operand& operand) {
    if (const auto* name = std::get_if<ptx::Identifier>(&operand.value)) return name->name;
    const auto* negated = std::get_if<ptx::NotOperand>(&operand.value);
    return negated == nullptr ? std::string() : negated->predicate.name;
  }

  const FlowGraph& graph_;
  const ptx::Function& function_;
  const Dim3& block_;
  const std::vector<bool>& diverges_;
  const Definitions definitions_;
};

}  // namespace

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

bool meets_before_rejoining(const FlowGraph& graph, size_t node,
                            const std::vector<bool>& meetings) {
  std::vector<bool> seen(graph.nodes.size(), false);
  std::vector<size_t> pending = graph.nodes[node].successors;
  while (!pending.empty()) {
    const size_t current = pending.back();
    pending.pop_back();
    if (current == graph.nodes[node].rejoin || seen[current]) continue;
    seen[current] = true;
    if (meetings[current]) return true;
    const auto& next = graph.nodes[current].successors;
    pending.insert(pending.end(), next.begin(), next.end());
  }
  return false;
}

bool parts_ways(const FlowGraph& graph, const std::vector<bool>& meetings,
                const std::vector<bool>& again, const std::vector<bool>& diverges) {
  std::vector<bool> ends(graph.nodes.size(), false);
  ends[graph.end] = true;
  const std::vector<bool> may_end = reaching(graph, ends, meetings);
  const std::vector<bool> may_meet = reaching(graph, meetings, again);
  for (size_t node = 0; node < graph.nodes.size(); ++node) {
    const auto& next = graph.nodes[node].successors;
    if (next.size() < 2 || !diverges[node]) continue;
    if (graph.nodes[node].rejoin != graph.end && !meets_before_rejoining(graph, node, meetings)) {
      continue;
    }
    if (std::any_of(next.begin(), next.end(), [&](size_t to) { return may_end[to]; }) &&
        std::any_of(next.begin(), next.end(), [&](size_t to) { return may_meet[to]; })) {
      return true;
    }
  }
  return false;
}

std::set<const Instruction*> exchanges_past_ends(const FlowGraph& graph,
                                                 const ptx::Function& function, const Dim3& block,
                                                 const std::vector<bool>& diverges) {
  return Exchanges(graph, function, block, diverges).past_ends();
}

}  // namespace sluice::megakernel
