#include "analysis/divisions.hpp"

#include <vector>

#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/PatternMatch.h>

namespace sluice::analysis {
namespace {

using namespace llvm;
using namespace llvm::PatternMatch;

// widened() is a narrow operand in a wide type: what was cut to make it, where the cut loses
// nothing.
Value* widened(IRBuilder<>& builder, Value* narrow, Type* type, bool is_signed,
               ScalarEvolution& evolution) {
  Value* whole = nullptr;
  if (match(narrow, m_Trunc(m_Value(whole)))) {
    const unsigned bits = narrow->getType()->getIntegerBitWidth();
    const SCEV* value = evolution.getSCEV(whole);
    const bool fits = is_signed ? evolution.getSignedRange(value).getMinSignedBits() <= bits
                                : evolution.getUnsignedRange(value).getActiveBits() <= bits;
    if (fits) {
      return is_signed ? builder.CreateSExtOrTrunc(whole, type)
                       : builder.CreateZExtOrTrunc(whole, type);
    }
  }
  return is_signed ? builder.CreateSExt(narrow, type) : builder.CreateZExt(narrow, type);
}

Value* wide_division(Instruction& extension, ScalarEvolution& evolution) {
  if (!isa<ZExtInst, SExtInst>(extension)) return nullptr;
  auto* division = dyn_cast<BinaryOperator>(extension.getOperand(0));
  if (division == nullptr || !isa<TruncInst>(division->getOperand(0))) return nullptr;
  const auto opcode = division->getOpcode();
  const bool is_signed = opcode == Instruction::SDiv || opcode == Instruction::SRem;
  if (!is_signed && opcode != Instruction::UDiv && opcode != Instruction::URem) return nullptr;
  if (is_signed != isa<SExtInst>(extension)) return nullptr;
  IRBuilder<> builder(&extension);
  Type* type = extension.getType();
  Value* dividend = widened(builder, division->getOperand(0), type, is_signed, evolution);
  Value* divisor = widened(builder, division->getOperand(1), type, is_signed, evolution);
  return builder.CreateBinOp(opcode, dividend, divisor);
}

// unsigned_division() is trunc(x / d) = max(x, 0) / d - max(-x, 0) / d for d > 0.
Value* unsigned_division(Instruction& division, ScalarEvolution& evolution) {
  Value* x = nullptr;
  const APInt* divisor = nullptr;
  if (division.use_empty()) return nullptr;
  const bool wants_rest = division.getOpcode() == Instruction::SRem;
  if (!match(&division, m_SDiv(m_Value(x), m_APInt(divisor))) &&
      !match(&division, m_SRem(m_Value(x), m_APInt(divisor)))) {
    return nullptr;
  }
  const ConstantRange range = evolution.getSignedRange(evolution.getSCEV(x));
  if (!divisor->isStrictlyPositive() || range.getSignedMin().isMinSignedValue()) return nullptr;
  IRBuilder<> builder(&division);
  Value* zero = ConstantInt::get(x->getType(), 0);
  Value* d = ConstantInt::get(x->getType(), *divisor);
  Value* quotient = nullptr;
  if (range.getSignedMax().isStrictlyPositive() || range.getSignedMax().isZero()) {
    Value* above = range.getSignedMin().isNegative()
                       ? builder.CreateBinaryIntrinsic(Intrinsic::smax, x, zero)
                       : x;
    quotient = builder.CreateUDiv(above, d);
  }
  if (range.getSignedMin().isNegative()) {
    Value* opposite = builder.CreateNSWNeg(x);
    Value* below = range.getSignedMax().isNegative()
                       ? opposite
                       : builder.CreateBinaryIntrinsic(Intrinsic::smax, opposite, zero);
    Value* down = builder.CreateUDiv(below, d);
    quotient =
        quotient == nullptr ? builder.CreateNSWNeg(down) : builder.CreateNSWSub(quotient, down);
  }
  if (!wants_rest) return quotient;
  return builder.CreateNSWSub(x, builder.CreateNSWMul(quotient, d));
}

}  // namespace

void make_divisions_legible(llvm::Function& function, llvm::ScalarEvolution& evolution) {
  // The old code stays until nothing asks for its ranges any more.
  std::vector<Instruction*> replaced;
  for (auto* rewritten : {wide_division, unsigned_division}) {
    std::vector<Instruction*> candidates;
    for (Instruction& instruction : instructions(function)) {
      if (isa<ZExtInst, SExtInst, BinaryOperator>(instruction)) candidates.push_back(&instruction);
    }
    for (Instruction* instruction : candidates) {
      Value* value = rewritten(*instruction, evolution);
      if (value == nullptr) continue;
      instruction->replaceAllUsesWith(value);
      replaced.push_back(instruction);
    }
  }
  for (Instruction* instruction : reverse(replaced)) {
    if (instruction->use_empty()) instruction->eraseFromParent();
  }
}

}  // namespace sluice::analysis
