#include "hostcuda/jit/object/vector_divisions.hpp"

#include <vector>

#include <llvm/Analysis/LoopInfo.h>
#include <llvm/IR/Constants.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/Instructions.h>
#include <llvm/Transforms/Utils/LoopUtils.h>

namespace sluice::hostcuda::jit {
namespace {

using namespace llvm;

bool is_division(const Instruction& instruction) {
  if (!instruction.getType()->isIntegerTy(32)) return false;
  return instruction.isIntDivRem() && !isa<Constant>(instruction.getOperand(1));
}

std::vector<BinaryOperator*> divisions_in_thread_loops(LoopInfo& loops) {
  std::vector<BinaryOperator*> found;
  for (Loop* loop : loops.getLoopsInPreorder()) {
    if (!loop->isInnermost() || !findOptionMDForLoop(loop, "llvm.loop.parallel_accesses")) continue;
    for (BasicBlock* block : loop->blocks()) {
      for (Instruction& instruction : *block) {
        if (is_division(instruction)) found.push_back(cast<BinaryOperator>(&instruction));
      }
    }
  }
  return found;
}

void divide_doubles(BinaryOperator& division) {
  IRBuilder<> ir(&division);
  const unsigned code = division.getOpcode();
  const bool is_signed = code == Instruction::SDiv || code == Instruction::SRem;
  const auto as_double = [&](Value* value) {
    return is_signed ? ir.CreateSIToFP(value, ir.getDoubleTy())
                     : ir.CreateUIToFP(value, ir.getDoubleTy());
  };
  Value* dividend = division.getOperand(0);
  Value* divisor = division.getOperand(1);
  Value* exact = ir.CreateFDiv(as_double(dividend), as_double(divisor));
  Value* result = is_signed ? ir.CreateFPToSI(exact, division.getType())
                            : ir.CreateFPToUI(exact, division.getType());
  if (code == Instruction::SRem || code == Instruction::URem)
    result = ir.CreateSub(dividend, ir.CreateMul(result, divisor));
  result->takeName(&division);
  division.replaceAllUsesWith(result);
  division.eraseFromParent();
}

}  // namespace

PreservedAnalyses VectorDivisionsPass::run(Function& function, FunctionAnalysisManager& analyses) {
  const std::vector<BinaryOperator*> divisions =
      divisions_in_thread_loops(analyses.getResult<LoopAnalysis>(function));
  for (BinaryOperator* division : divisions)
    divide_doubles(*division);
  return divisions.empty() ? PreservedAnalyses::all() : PreservedAnalyses::none();
}

}  // namespace sluice::hostcuda::jit
