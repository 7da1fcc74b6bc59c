#include "analysis/rewrite/magic_division.hpp"

#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/PatternMatch.h>

namespace sluice::analysis {
namespace {

using namespace llvm;
using namespace llvm::PatternMatch;
using Wide = __int128;

// sign_bit() is the lowest number that looks negative in the type of `value`.
Wide sign_bit(const Value* value) {
  return Wide(1) << (value->getType()->getIntegerBitWidth() - 1);
}

}  // namespace

// multiplied() is x * magic, where the product neither wraps nor looks negative.
std::optional<MagicDivision::Product> MagicDivision::multiplied(Value* value) const {
  Value* x = nullptr;
  const APInt* constant = nullptr;
  if (!match(value, m_c_Mul(m_Value(x), m_APInt(constant)))) return std::nullopt;
  const auto known = range_(x);
  const Wide magic = constant->getZExtValue();
  const Wide limit = sign_bit(value);
  if (!known || known->low < 0 || magic >= limit || known->high * magic >= limit) {
    return std::nullopt;
  }
  return Product{x, magic, 0, known->high};
}

// upper_half_and_dividend() is the upper half of x * (magic - 2^32), plus x: where the magic number
// has its top bit set, a signed multiplication takes it for that much less.
std::optional<MagicDivision::Product> MagicDivision::upper_half_and_dividend(Value* value) const {
  Value *a = nullptr, *b = nullptr;
  if (!value->getType()->isIntegerTy(32) || !match(value, m_Add(m_Value(a), m_Value(b)))) {
    return std::nullopt;
  }
  for (auto [half, x] : {std::pair(a, b), std::pair(b, a)}) {
    Value* factor = nullptr;
    const APInt *constant = nullptr, *shift = nullptr;
    const auto upper = m_Trunc(m_Shr(m_c_Mul(m_Value(factor), m_APInt(constant)), m_APInt(shift)));
    if (!match(original_(half), upper) || *shift != 32 || constant->getBitWidth() != 64) continue;
    Value* extended = nullptr;
    if (!match(original_(factor), m_ZExtOrSExt(m_Value(extended)))) continue;
    if (original_(extended) != original_(x)) continue;
    const auto known = range_(x);
    if (!known || known->low < 0 || !constant->isNegative() ||
        constant->getSExtValue() < -(int64_t(1) << 31)) {
      continue;
    }
    return Product{x, Wide(constant->getSExtValue()) + (Wide(1) << 32), 32, known->high};
  }
  return std::nullopt;
}

std::optional<MagicDivision::Product> MagicDivision::product(Value* value) const {
  value = original_(value);
  Value* inner = nullptr;
  const APInt* constant = nullptr;
  if (match(value, m_Trunc(m_Value(inner))) || match(value, m_ZExtOrSExt(m_Value(inner)))) {
    const auto found = product(inner);
    // Neither a truncation nor an extension changes what lies below both sign bits.
    const bool is_kept =
        found && found->bound() < sign_bit(value) && found->bound() < sign_bit(inner);
    return is_kept ? found : std::nullopt;
  }
  if (match(value, m_Shr(m_Value(inner), m_APInt(constant)))) {
    auto found = product(inner);
    if (!found || found->bound() >= sign_bit(inner)) return std::nullopt;
    found->shift += unsigned(constant->getZExtValue());
    return found;
  }
  if (auto found = multiplied(value)) return found;
  return upper_half_and_dividend(value);
}

// With magic * d = 2^shift + e the product exceeds x / d by x * e / (d * 2^shift), too little to
// reach the next integer while x * e < 2^shift.
// Source: Granlund and Montgomery, Division by Invariant Integers using Multiplication.
Value* MagicDivision::quotient(Instruction& instruction) const {
  if (!isa<TruncInst>(instruction) && !instruction.isLogicalShift() &&
      !instruction.isArithmeticShift()) {
    return nullptr;
  }
  const auto found = product(&instruction);
  if (!found || found->shift == 0) return nullptr;
  if (found->bound() == 0) return ConstantInt::get(instruction.getType(), 0);
  if (found->shift > 62 || found->magic < 3) return nullptr;
  const Wide power = Wide(1) << found->shift;
  const Wide divisor = (power + found->magic - 1) / found->magic;
  for (Wide d : {divisor, divisor - 1}) {
    const Wide excess = found->magic * d - power;
    if (d < 2 || excess < 0 || excess >= d || found->high * excess >= power) continue;
    IRBuilder<> builder(&instruction);
    Value* quotient =
        builder.CreateUDiv(found->x, ConstantInt::get(found->x->getType(), uint64_t(d)));
    return builder.CreateZExtOrTrunc(quotient, instruction.getType());
  }
  return nullptr;
}

}  // namespace sluice::analysis
