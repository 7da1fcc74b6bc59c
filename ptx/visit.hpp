// Visiting what a body holds, however deep it is nested. All of it may be changed on the way where
// it is not const.
#pragma once

#include <variant>
#include <vector>

#include "ptx/syntax.hpp"

namespace sluice::ptx {

// for_each_operand() calls visit(operand) for each operand that is no list of others.
template <class Operand, class Visit>
void for_each_operand(Operand& operand, Visit&& visit) {
  std::visit(
      [&](auto& value) {
        if constexpr (requires { value.elements; }) {
          for (auto& element : value.elements)
            for_each_operand(element, visit);
        } else {
          visit(operand);
        }
      },
      operand.value);
}

// elements_of() lists the elements of a vector, or the operand itself where it is none.
inline std::vector<const Operand*> elements_of(const Operand& operand) {
  const auto* vector = std::get_if<VectorOperand>(&operand.value);
  if (vector == nullptr) return {&operand};
  std::vector<const Operand*> elements;
  for (const Operand& element : vector->elements)
    elements.push_back(&element);
  return elements;
}

// for_each_name() calls visit(name) for whatever an operand names.
template <class Operand, class Visit>
void for_each_name(Operand& operand, Visit&& visit) {
  for_each_operand(operand, [&](auto& leaf) {
    std::visit(
        [&](auto& value) {
          if constexpr (requires { value.name; }) visit(value.name);
          if constexpr (requires { value.base; }) visit(value.base);
          if constexpr (requires { value.predicate; }) visit(value.predicate.name);
          if constexpr (requires { value.first; }) {
            visit(value.first);
            visit(value.second);
          }
        },
        leaf.value);
  });
}

// for_each_destination() calls visit(name) for each register that an instruction writes.
template <class Visit>
void for_each_destination(const Instruction& instruction, Visit&& visit) {
  if (!instruction.has_result()) return;
  for_each_operand(instruction.operands[0], [&](const Operand& leaf) {
    if (const auto* name = std::get_if<Identifier>(&leaf.value)) visit(name->name);
    if (const auto* pair = std::get_if<PairOperand>(&leaf.value)) {
      visit(pair->first);
      visit(pair->second);
    }
  });
}

// for_each_statement() calls visit(statement) for all but blocks, in order, also inside blocks.
template <class Block, class Visit>
void for_each_statement(Block& block, Visit&& visit) {
  for (auto& statement : block.statements) {
    if (auto* inner = std::get_if<ptx::Block>(&statement)) {
      for_each_statement(*inner, visit);
    } else {
      visit(statement);
    }
  }
}

// for_each_instruction() does the same for instructions alone.
template <class Visit>
void for_each_instruction(const Block& block, Visit&& visit) {
  for_each_statement(block, [&](const Statement& statement) {
    if (const auto* instruction = std::get_if<Instruction>(&statement)) visit(*instruction);
  });
}

}  // namespace sluice::ptx
