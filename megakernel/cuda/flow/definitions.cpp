#include "megakernel/cuda/flow/definitions.hpp"

#include <algorithm>
#include <array>
#include <string_view>

#include "ptx/visit.hpp"

namespace sluice::megakernel {

Definitions::Definitions(const FlowGraph& graph) {
  for (size_t node = 0; node < graph.nodes.size(); ++node) {
    for (size_t index = 0; index < graph.nodes[node].instructions.size(); ++index) {
      const ptx::Instruction* instruction = graph.nodes[node].instructions[index];
      ptx::for_each_destination(*instruction, [&](const std::string& written) {
        definitions_[written].push_back({instruction, node, index});
      });
    }
  }
}

const Definition* Definitions::only(const std::string& name) const {
  const auto found = definitions_.find(name);
  return found == definitions_.end() || found->second.size() != 1 ? nullptr : &found->second[0];
}

bool Definitions::has(const std::string& name) const {
  return definitions_.contains(name);
}

bool Definitions::is_written_between(const std::string& name, size_t node, size_t first,
                                     size_t last) const {
  const auto found = definitions_.find(name);
  if (found == definitions_.end()) return false;
  return std::any_of(found->second.begin(), found->second.end(), [&](const Definition& d) {
    return d.node == node && d.index > first && d.index < last;
  });
}

bool is_full_mask(const ptx::Operand& operand, const Definitions& definitions) {
  if (const auto* literal = std::get_if<ptx::IntegerLiteral>(&operand.value)) {
    return (literal->bits & UINT32_MAX) == UINT32_MAX;
  }
  const auto* name = std::get_if<ptx::Identifier>(&operand.value);
  const Definition* definition = name == nullptr ? nullptr : definitions.only(name->name);
  if (definition == nullptr || definition->instruction->guard) return false;
  const ptx::Instruction& made = *definition->instruction;
  return made.opcode == ptx::Opcode::mov &&
         std::holds_alternative<ptx::IntegerLiteral>(made.operands.at(1).value) &&
         is_full_mask(made.operands[1], definitions);
}

bool tell_the_same(const std::string& a, const std::string& b, const Definitions& definitions) {
  if (a == b) return true;
  const Definition* first = definitions.only(a);
  const Definition* second = definitions.only(b);
  if (first == nullptr || second == nullptr || first->node != second->node) return false;
  const ptx::Instruction& one = *first->instruction;
  const ptx::Instruction& other = *second->instruction;
  const auto compares = [](const ptx::Instruction& it) {
    return it.opcode == ptx::Opcode::setp && !it.guard;
  };
  if (!compares(one) || !compares(other)) return false;
  if (one.operands.size() != 3 || other.operands.size() != 3 || one.modifiers.size() != 2 ||
      other.modifiers.size() != 2 || one.modifiers[1] != other.modifiers[1] ||
      one.modifiers[1].starts_with("f")) {
    return false;
  }
  for (const size_t index : {size_t{1}, size_t{2}}) {
    if (!(one.operands[index] == other.operands[index])) return false;
    // Special registers but the thread's place may change on their way.
    const auto* name = std::get_if<ptx::Identifier>(&one.operands[index].value);
    if (name == nullptr) continue;
    if (!definitions.has(name->name) && name->name != "%tid") return false;
    const auto [begin, end] = std::minmax(first->index, second->index);
    if (definitions.is_written_between(name->name, first->node, begin, end)) return false;
  }
  static constexpr std::array<std::array<std::string_view, 2>, 5> opposites = {
      {{"lt", "ge"}, {"le", "gt"}, {"eq", "ne"}, {"lo", "hs"}, {"ls", "hi"}}};
  const std::string& x = one.modifiers[0];
  const std::string& y = other.modifiers[0];
  return x == y || std::any_of(opposites.begin(), opposites.end(), [&](const auto& pair) {
           return (x == pair[0] && y == pair[1]) || (x == pair[1] && y == pair[0]);
         });
}

}  // namespace sluice::megakernel
