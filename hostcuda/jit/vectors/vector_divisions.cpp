#include "hostcuda/jit/vectors/vector_divisions.hpp"

#include <map>
#include <tuple>
#include <vector>

#include <llvm/Analysis/LoopInfo.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/Instructions.h>
#include <llvm/Transforms/Utils/LoopUtils.h>

namespace sluice::hostcuda::jit {
namespace {

using namespace llvm;

// The quotient of doubles x * (above_one / d), cut to an integer, is that of the integers: the
// product lies at or above x / d, by less than 1 in 2^49, since each of the two roundings changes
// it by at most 1 in 2^53; and a quotient of 32-bit numbers lies below the next integer by at least
// 1 in 2^33. Negative numbers are the same with another sign. Of x / d itself one rounding is left.
constexpr double above_one = 0x1.0000000000004p+0;

bool is_division(const Instruction& instruction) {
  switch (instruction.getOpcode()) {
    case Instruction::SDiv:
    case Instruction::UDiv:
    case Instruction::SRem:
    case Instruction::URem:
      return instruction.getType()->isIntegerTy(32);
    default:
      return false;
  }
}

class Divisions {
 public:
  explicit Divisions(const LoopInfo& loops) : loops_(loops) {}

  // replace() is whether the division had the form; it is gone then.
  bool replace(Instruction& division) {
    Value* divisor = division.getOperand(1);
    if (isa<Constant>(divisor)) return false;
    BasicBlock* place = place_of(division, *divisor);
    if (place == nullptr && !is_of_threads(division)) return false;
    const bool is_signed =
        division.getOpcode() == Instruction::SDiv || division.getOpcode() == Instruction::SRem;
    const bool wants_rest =
        division.getOpcode() == Instruction::SRem || division.getOpcode() == Instruction::URem;
    IRBuilder<> ir(&division);
    // Both uses must see the same number.
    Value* dividend = division.getOperand(0);
    if (wants_rest) {
      dividend = ir.CreateFreeze(dividend);
      if (!place) divisor = ir.CreateFreeze(divisor);
    }
    Value* number = to_double(ir, dividend, is_signed);
    Value* quotient = place ? ir.CreateFMul(number, reciprocal(*divisor, is_signed, place))
                            : ir.CreateFDiv(number, to_double(ir, divisor, is_signed));
    Value* result = is_signed ? ir.CreateFPToSI(quotient, division.getType())
                              : ir.CreateFPToUI(quotient, division.getType());
    if (wants_rest) result = ir.CreateSub(dividend, ir.CreateMul(result, divisor));
    result->takeName(&division);
    division.replaceAllUsesWith(result);
    division.eraseFromParent();
    return true;
  }

 private:
  static Value* to_double(IRBuilder<>& ir, Value* number, bool is_signed) {
    return is_signed ? ir.CreateSIToFP(number, ir.getDoubleTy())
                     : ir.CreateUIToFP(number, ir.getDoubleTy());
  }

  // Whether the division stands in an innermost loop over threads, which may become vectors.
  bool is_of_threads(const Instruction& division) const {
    const Loop* loop = loops_.getLoopFor(division.getParent());
    return loop && loop->isInnermost() && findOptionMDForLoop(loop, "llvm.loop.parallel_accesses");
  }

  // place_of() is the block before the outermost loop that does not change the divisor; null where
  // there is none.
  BasicBlock* place_of(const Instruction& division, const Value& divisor) const {
    BasicBlock* place = nullptr;
    for (const Loop* loop = loops_.getLoopFor(division.getParent());
         loop != nullptr && loop->isLoopInvariant(&divisor); loop = loop->getParentLoop()) {
      BasicBlock* before = loop->getLoopPreheader();
      if (before == nullptr) break;
      place = before;
    }
    return place;
  }

  Value* reciprocal(Value& divisor, bool is_signed, BasicBlock* place) {
    Value*& known = reciprocals_[{&divisor, is_signed, place}];
    if (known == nullptr) {
      IRBuilder<> ir(place->getTerminator());
      known = ir.CreateFDiv(ConstantFP::get(ir.getDoubleTy(), above_one),
                            to_double(ir, &divisor, is_signed), "reciprocal");
    }
    return known;
  }

  const LoopInfo& loops_;
  std::map<std::tuple<Value*, bool, BasicBlock*>, Value*> reciprocals_;
};

}  // namespace

PreservedAnalyses VectorDivisionsPass::run(Function& function, FunctionAnalysisManager& analyses) {
  std::vector<Instruction*> divisions;
  for (BasicBlock& block : function) {
    for (Instruction& instruction : block)
      if (is_division(instruction)) divisions.push_back(&instruction);
  }
  if (divisions.empty()) return PreservedAnalyses::all();
  Divisions with_doubles(analyses.getResult<LoopAnalysis>(function));
  bool any = false;
  for (Instruction* division : divisions)
    any |= with_doubles.replace(*division);
  if (!any) return PreservedAnalyses::all();
  PreservedAnalyses preserved;
  preserved.preserveSet<CFGAnalyses>();
  return preserved;
}

}  // namespace sluice::hostcuda::jit
