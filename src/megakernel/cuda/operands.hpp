// Visiting the operands of an instruction, however deep they are nested.
#pragma once

#include <variant>

#include "ptx/syntax.hpp"

namespace sluice::megakernel {

// for_each_operand() calls visit(operand) for each leaf, so that it may be replaced.
template <class Operand, class Visit>
void for_each_operand(Operand& operand, Visit&& visit) {
  const auto each = [&](auto& list) {
    for (auto& element : list.elements)
      for_each_operand(element, visit);
  };
  if (auto* vector = std::get_if<ptx::VectorOperand>(&operand.value)) return each(*vector);
  if (auto* list = std::get_if<ptx::ListOperand>(&operand.value)) return each(*list);
  if (auto* bracketed = std::get_if<ptx::BracketedList>(&operand.value)) return each(*bracketed);
  visit(operand);
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

}  // namespace sluice::megakernel
