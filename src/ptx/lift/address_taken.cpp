// The functions that a pointer may point to.
#include <algorithm>
#include <set>

#include "ptx/lift/module_lifter.hpp"

namespace sluice::ptx::lift_detail {

namespace {

// NameCollector gathers the names that stand where a value stands: not what a call names.
class NameCollector {
 public:
  void visit(const Block& block) {
    for (const Statement& statement : block.statements) {
      if (const auto* inner = std::get_if<Block>(&statement)) visit(*inner);
      if (const auto* instruction = std::get_if<Instruction>(&statement)) visit(*instruction);
    }
  }
  void visit(const Operand& operand) {
    if (const auto* identifier = std::get_if<Identifier>(&operand.value)) {
      names.insert(identifier->name);
    } else if (const auto* offset = std::get_if<Offset>(&operand.value)) {
      names.insert(offset->name);
    } else if (const auto* list = std::get_if<ListOperand>(&operand.value)) {
      for (const Operand& element : list->elements)
        visit(element);
    } else if (const auto* vector = std::get_if<VectorOperand>(&operand.value)) {
      for (const Operand& element : vector->elements)
        visit(element);
    }
  }

  std::set<std::string, std::less<>> names;

 private:
  void visit(const Instruction& instruction) {
    for (const Operand& operand : instruction.operands) {
      const bool is_callee =
          instruction.opcode == "call" && std::holds_alternative<Identifier>(operand.value);
      if (!is_callee) visit(operand);
    }
  }
};

}  // namespace

const std::vector<const Function*>& ModuleLifter::address_taken_functions() {
  if (address_taken_) return *address_taken_;
  NameCollector collector;
  for (const ModuleItem& item : source_.items) {
    if (const auto* function = std::get_if<Function>(&item)) collector.visit(function->body);
    if (const auto* variable = std::get_if<Variable>(&item)) {
      for (const Operand& operand : variable->initialiser)
        collector.visit(operand);
    }
  }
  address_taken_.emplace();
  for (const ModuleItem& item : source_.items) {
    const auto* function = std::get_if<Function>(&item);
    if (function == nullptr || function->is_entry || !function->is_definition) continue;
    if (collector.names.contains(function->name)) address_taken_->push_back(function);
  }
  return *address_taken_;
}

}  // namespace sluice::ptx::lift_detail
