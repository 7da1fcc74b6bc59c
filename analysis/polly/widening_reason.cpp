#include "analysis/polly/widening_reason.hpp"

#include <llvm/ADT/SmallPtrSet.h>
#include <llvm/ADT/SmallVector.h>
#include <llvm/IR/Constants.h>
#include <llvm/IR/Instructions.h>

namespace sluice::analysis {
namespace {

using namespace llvm;

// A slice larger than this gets the general reason.
constexpr size_t most_values = 4096;
constexpr size_t most_values_of_a_loop = 256;

const UnknownValue* unknown_of(Instruction& instruction, const AccessForm& form) {
  auto* call = dyn_cast<CallInst>(&instruction);
  if (call == nullptr || call->getCalledFunction() == nullptr ||
      !call->getCalledFunction()->getName().starts_with(unknown_prefix)) {
    return nullptr;
  }
  return &form.unknowns[cast<ConstantInt>(call->getArgOperand(0))->getZExtValue()];
}

// is_loop_counter() is true of a value that the next iteration computes from this one's.
bool is_loop_counter(PHINode& phi) {
  SmallVector<Value*> pending(phi.op_begin(), phi.op_end());
  SmallPtrSet<Value*, 32> seen;
  for (size_t next = 0; next < pending.size() && next < most_values_of_a_loop; ++next) {
    if (pending[next] == &phi) return true;
    auto* instruction = dyn_cast<Instruction>(pending[next]);
    if (instruction == nullptr || !seen.insert(instruction).second) continue;
    pending.append(instruction->op_begin(), instruction->op_end());
  }
  return false;
}

struct Cause {
  const UnknownValue* unknown = nullptr;
  bool bounds_a_loop = false;
};

// find_cause() is the nearest unknown value that `value` is computed from. With `by_control`, one
// that decides between the values of a phi, such as whether a loop goes on, counts as well.
Cause find_cause(Value& value, const AccessForm& form, bool by_control) {
  SmallVector<std::pair<Value*, bool>> pending{{&value, false}};
  SmallPtrSet<Value*, 32> seen;
  for (size_t next = 0; next < pending.size() && next < most_values; ++next) {
    auto [at, in_loop] = pending[next];
    auto* instruction = dyn_cast<Instruction>(at);
    if (instruction == nullptr || !seen.insert(instruction).second) continue;
    if (const UnknownValue* unknown = unknown_of(*instruction, form)) return {unknown, in_loop};
    auto* phi = dyn_cast<PHINode>(instruction);
    if (phi != nullptr) in_loop = in_loop || is_loop_counter(*phi);
    for (Value* operand : instruction->operands())
      pending.push_back({operand, in_loop});
    if (phi == nullptr || !by_control) continue;
    for (BasicBlock* block : phi->blocks()) {
      auto* branch = dyn_cast<BranchInst>(block->getTerminator());
      if (branch && branch->isConditional()) pending.push_back({branch->getCondition(), in_loop});
    }
    auto* branch = dyn_cast<BranchInst>(phi->getParent()->getTerminator());
    if (branch && branch->isConditional()) pending.push_back({branch->getCondition(), in_loop});
  }
  return {};
}

}  // namespace

WideningReason address_reason(Value& offset, const AccessForm& form, uint32_t touch,
                              Widening otherwise) {
  Cause cause = find_cause(offset, form, false);
  if (cause.unknown == nullptr) cause = find_cause(offset, form, true);
  const uint32_t line = form.touches[touch].line;
  if (cause.unknown == nullptr) return {otherwise, line};
  const UnknownValue& value = *cause.unknown;
  return {value.source, line, value.line, cause.bounds_a_loop, value.name};
}

}  // namespace sluice::analysis
