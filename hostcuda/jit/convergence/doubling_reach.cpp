#include "hostcuda/jit/convergence/doubling_reach.hpp"

#include <vector>

#include <llvm/ADT/SmallPtrSet.h>
#include <llvm/IR/Constants.h>
#include <llvm/IR/Instructions.h>

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

bool doubles(const PHINode& phi, const LoopInfo& loops) {
  const Loop* loop = loops.getLoopFor(phi.getParent());
  if (!loop || loop->getHeader() != phi.getParent() || phi.getNumIncomingValues() != 2) {
    return false;
  }
  const unsigned back = loop->contains(phi.getIncomingBlock(0)) ? 0 : 1;
  return !loop->contains(phi.getIncomingBlock(1 - back)) &&
         is_scaled_by_constants(*phi.getIncomingValue(back), phi);
}

}  // namespace

bool reaches_by_doubling(const Value& address, const LoopInfo& loops,
                         const Uniformity& uniformity) {
  SmallPtrSet<const Value*, 32> seen;
  std::vector<const Value*> pending = {&address};
  while (!pending.empty() && seen.size() < most_reach_steps) {
    auto* instruction = dyn_cast<Instruction>(pending.back());
    pending.pop_back();
    if (!instruction || !seen.insert(instruction).second) continue;
    if (instruction->mayReadOrWriteMemory()) continue;
    auto* phi = dyn_cast<PHINode>(instruction);
    if (phi && uniformity.is_uniform(*phi) && doubles(*phi, loops)) return true;
    pending.insert(pending.end(), instruction->value_op_begin(), instruction->value_op_end());
  }
  return false;
}

}  // namespace sluice::hostcuda::jit
