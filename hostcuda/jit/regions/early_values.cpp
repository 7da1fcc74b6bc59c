#include "hostcuda/jit/regions/early_values.hpp"

#include <llvm/ADT/STLExtras.h>
#include <llvm/Analysis/ValueTracking.h>
#include <llvm/IR/Instructions.h>

namespace sluice::hostcuda::jit {

using namespace llvm;

bool can_be_computed_at(const Instruction& instruction, const Instruction& place,
                        const DominatorTree& dominators) {
  return !isa<PHINode>(instruction) && !instruction.isTerminator() &&
         !instruction.mayReadOrWriteMemory() && isSafeToSpeculativelyExecute(&instruction) &&
         all_of(instruction.operands(), [&](const Use& operand) {
           const auto* value = dyn_cast<Instruction>(operand.get());
           return !value || dominators.dominates(value, &place);
         });
}

}  // namespace sluice::hostcuda::jit
