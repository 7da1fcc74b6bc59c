#include "hostcuda/jit/convergence/doubling_reach.hpp"

#include <vector>

#include <llvm/IR/Constants.h>
#include <llvm/IR/Instructions.h>

#include "hostcuda/jit/convergence/loop_variable.hpp"

namespace sluice::hostcuda::jit {
namespace {

using namespace llvm;

constexpr size_t most_reach_steps = 256;  // instructions looked at for one address

bool scales(const Instruction& operation) {
  switch (operation.getOpcode()) {
    case Instruction::Mul:
    case Instruction::UDiv:
    case Instruction::SDiv:
    case Instruction::Shl:
    case Instruction::LShr:
    case Instruction::AShr:
      return true;
    default:
      return false;
  }
}

// Whether what the next round finds in a variable is what this one has, times or by a constant. A
// division of a signed number adds its sign first.
bool is_scaled_by_constants(const Value& next, const PHINode& variable) {
  SmallPtrSet<const Value*, 8> seen;
  std::vector<const Value*> pending = {&next};
  bool scaled = false;
  while (!pending.empty()) {
    const Value* value = pending.back();
    pending.pop_back();
    if (value == &variable || isa<Constant>(value) || !seen.insert(value).second) continue;
    auto* operation = dyn_cast<Instruction>(value);
    if (!operation || !isa<BinaryOperator, CastInst, FreezeInst>(operation)) return false;
    scaled |= scales(*operation);
    pending.insert(pending.end(), operation->value_op_begin(), operation->value_op_end());
  }
  return scaled;
}

}  // namespace

DoublingVariables doubling_variables(const LoopInfo& loops, const Uniformity& uniformity) {
  DoublingVariables found;
  for (const Loop* loop : const_cast<LoopInfo&>(loops).getLoopsInPreorder()) {
    for (const PHINode& phi : loop->getHeader()->phis()) {
      const std::optional<LoopVariable> variable = loop_variable(phi, loops);
      if (variable && uniformity.is_uniform(phi) && is_scaled_by_constants(*variable->next, phi))
        found.insert(&phi);
    }
  }
  return found;
}

bool reaches_by(const Value& address, const DoublingVariables& variables) {
  SmallPtrSet<const Value*, 32> seen;
  std::vector<const Value*> pending = {&address};
  while (!pending.empty() && seen.size() < most_reach_steps) {
    auto* instruction = dyn_cast<Instruction>(pending.back());
    pending.pop_back();
    if (!instruction || !seen.insert(instruction).second) continue;
    if (instruction->mayReadOrWriteMemory()) continue;
    if (variables.contains(instruction)) return true;
    pending.insert(pending.end(), instruction->value_op_begin(), instruction->value_op_end());
  }
  return false;
}

}  // namespace sluice::hostcuda::jit
