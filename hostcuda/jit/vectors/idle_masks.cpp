#include "hostcuda/jit/vectors/idle_masks.hpp"

#include <algorithm>
#include <vector>

#include <llvm/Analysis/ScalarEvolution.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/PatternMatch.h>

namespace sluice::hostcuda::jit {
namespace {

using namespace llvm;

// The bits that a number may have.
APInt possible_bits(const SCEV* number, ScalarEvolution& evolution) {
  const APInt most = evolution.getUnsignedRangeMax(number);
  const unsigned width = most.getBitWidth();
  const unsigned zeros = std::min<unsigned>(evolution.getMinTrailingZeros(number), width);
  return APInt::getLowBitsSet(width, most.getActiveBits()) &
         APInt::getHighBitsSet(width, width - zeros);
}

}  // namespace

PreservedAnalyses IdleMasksPass::run(Function& function, FunctionAnalysisManager& analyses) {
  auto& evolution = analyses.getResult<ScalarEvolutionAnalysis>(function);
  std::vector<Instruction*> idle;
  for (Instruction& instruction : instructions(function)) {
    Value* number = nullptr;
    const APInt* mask = nullptr;
    if (!match(&instruction,
               PatternMatch::m_And(PatternMatch::m_Value(number), PatternMatch::m_APInt(mask)))) {
      continue;
    }
    if (!number->getType()->isIntegerTy()) continue;
    if (possible_bits(evolution.getSCEV(number), evolution).isSubsetOf(*mask))
      idle.push_back(&instruction);
  }
  if (idle.empty()) return PreservedAnalyses::all();
  for (Instruction* instruction : idle) {
    evolution.forgetValue(instruction);
    instruction->replaceAllUsesWith(instruction->getOperand(0));
    instruction->eraseFromParent();
  }
  PreservedAnalyses preserved;
  preserved.preserveSet<CFGAnalyses>();
  return preserved;
}

}  // namespace sluice::hostcuda::jit
