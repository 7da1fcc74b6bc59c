#include "analysis/rewrite/divisions.hpp"

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

// congruent() is a number of `type` that equals `narrow` modulo two to the narrow width: the
// arithmetic is done with the numbers that were cut. Null where other arithmetic is met.
Value* congruent(IRBuilder<>& builder, Value* narrow, Type* type, unsigned depth = 0) {
  constexpr unsigned deepest = 8;
  Value *a = nullptr, *b = nullptr;
  const APInt* constant = nullptr;
  if (match(narrow, m_APInt(constant)))
    return ConstantInt::get(type, constant->getSExtValue(), true);
  if (match(narrow, m_Trunc(m_Value(a)))) return builder.CreateSExtOrTrunc(a, type);
  if (depth == deepest) return nullptr;
  if (match(narrow, m_Shl(m_Value(a), m_APInt(constant)))) {
    Value* left = congruent(builder, a, type, depth + 1);
    if (left == nullptr || constant->uge(narrow->getType()->getIntegerBitWidth())) return nullptr;
    return builder.CreateMul(left, ConstantInt::get(type, uint64_t{1} << constant->getZExtValue()));
  }
  if (!match(narrow, m_Add(m_Value(a), m_Value(b))) &&
      !match(narrow, m_Sub(m_Value(a), m_Value(b))) &&
      !match(narrow, m_Mul(m_Value(a), m_ImmConstant()))) {
    return nullptr;
  }
  auto* operation = cast<BinaryOperator>(narrow);
  Value* left = congruent(builder, operation->getOperand(0), type, depth + 1);
  Value* right =
      left == nullptr ? nullptr : congruent(builder, operation->getOperand(1), type, depth + 1);
  return right == nullptr ? nullptr : builder.CreateBinOp(operation->getOpcode(), left, right);
}

// narrow_remainder() is what is left of a number cut to a few bits, as number - 2^bits * quotient:
// scalar evolution writes remainders by powers of two, such as the lane of a thread in its warp, as
// arithmetic in types of odd widths, which Polly takes apart only with much work.
Value* narrow_remainder(Instruction& extension, ScalarEvolution& evolution) {
  constexpr unsigned most_bits = 16;
  if (!isa<ZExtInst>(extension) || extension.use_empty()) return nullptr;
  Value* narrow = extension.getOperand(0);
  const unsigned bits = narrow->getType()->getScalarSizeInBits();
  auto* type = dyn_cast<IntegerType>(extension.getType());
  if (type == nullptr || bits < 2 || bits > most_bits || type->getBitWidth() < 2 * bits ||
      type->getBitWidth() > 64) {
    return nullptr;
  }
  IRBuilder<> builder(&extension);
  Value* number = congruent(builder, narrow, type);
  if (number == nullptr) return nullptr;
  const ConstantRange range = evolution.getSignedRange(evolution.getSCEV(number));
  // The quotient is taken of a number that is not negative and wraps around nowhere.
  const unsigned room = type->getBitWidth() - 2;
  if (!range.getSignedMin().isSignedIntN(room) || !range.getSignedMax().isSignedIntN(room)) {
    return nullptr;
  }
  const int64_t low = range.getSignedMin().getSExtValue();
  const int64_t divisor = int64_t{1} << bits;
  if (low >= 0 && range.getSignedMax().slt(divisor)) return number;
  if (low < 0) {
    const int64_t lift = (-low + divisor - 1) / divisor * divisor;
    number = builder.CreateNSWAdd(number, ConstantInt::get(type, uint64_t(lift)));
  }
  Value* d = ConstantInt::get(type, uint64_t(divisor));
  return builder.CreateNSWSub(number, builder.CreateNSWMul(builder.CreateUDiv(number, d), d));
}

}  // namespace

void make_divisions_legible(llvm::Function& function, llvm::ScalarEvolution& evolution) {
  // The old code stays until nothing asks for its ranges any more.
  std::vector<Instruction*> replaced;
  for (auto* rewritten : {wide_division, narrow_remainder, unsigned_division}) {
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
