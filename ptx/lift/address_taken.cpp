// The functions that a pointer may point to.
#include <algorithm>
#include <set>

#include "ptx/lift/module_lifter.hpp"
#include "ptx/visit.hpp"

namespace sluice::ptx::lift_detail {

const std::vector<const Function*>& ModuleLifter::address_taken_functions() {
  if (address_taken_) return *address_taken_;
  // The names that stand where a value stands: not what a call names.
  std::set<std::string, std::less<>> names;
  const auto collect = [&](const Operand& operand) {
    for_each_name(operand, [&](const std::string& name) { names.insert(name); });
  };
  for (const ModuleItem& item : source_.items) {
    if (const auto* function = std::get_if<Function>(&item)) {
      for_each_instruction(function->body, [&](const Instruction& instruction) {
        for (const Operand& operand : instruction.operands) {
          const bool is_callee = instruction.opcode == Opcode::call &&
                                 std::holds_alternative<Identifier>(operand.value);
          if (!is_callee) collect(operand);
        }
      });
    } else if (const auto* variable = std::get_if<Variable>(&item)) {
      std::for_each(variable->initialiser.begin(), variable->initialiser.end(), collect);
    }
  }
  address_taken_.emplace();
  for (const ModuleItem& item : source_.items) {
    const auto* function = std::get_if<Function>(&item);
    if (function == nullptr || function->is_entry || !function->is_definition) continue;
    if (names.contains(function->name)) address_taken_->push_back(function);
  }
  return *address_taken_;
}

}  // namespace sluice::ptx::lift_detail
