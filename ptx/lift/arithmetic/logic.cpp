// Bitwise logic and shifts. A PTX shift by the width or more gives zeros or signs, where LLVM's
// is poison, so an amount that is not a small constant is compared first.
#include <llvm/IR/Constants.h>

#include "ptx/lift/families.hpp"

namespace sluice::ptx::lift_detail {

namespace {

llvm::Value* shift(InstructionLifter& lifter, llvm::Value* value, llvm::Value* amount,
                   ScalarType type, bool left) {
  llvm::IRBuilder<>& ir = lifter.ir();
  const unsigned width = bit_width(type);
  llvm::Type* value_type = value->getType();
  auto emit = [&](llvm::Value* by) {
    by = ir.CreateZExtOrTrunc(by, value_type);
    if (left) return ir.CreateShl(value, by);
    return is_signed(type) ? ir.CreateAShr(value, by) : ir.CreateLShr(value, by);
  };
  if (!left && is_signed(type)) {
    return emit(lifter.ir().CreateIntrinsic(llvm::Intrinsic::umin, {amount->getType()},
                                            {amount, ir.getInt32(width - 1)}));
  }
  if (const auto* constant = llvm::dyn_cast<llvm::ConstantInt>(amount)) {
    return constant->getZExtValue() < width ? emit(amount) : llvm::ConstantInt::get(value_type, 0);
  }
  llvm::Value* in_range = ir.CreateICmpULT(amount, ir.getInt32(width));
  return ir.CreateSelect(in_range, emit(amount), llvm::ConstantInt::get(value_type, 0));
}

void refuse_other_than_bits(InstructionLifter& lifter, ScalarType type) {
  if (!is_integer(type)) lifter.refuse_invalid("it needs a type of bits");
}

}  // namespace

void lift_logic(InstructionLifter& lifter) {
  const ScalarType type = lifter.take_type();
  if (type != ScalarType::pred) refuse_other_than_bits(lifter, type);
  llvm::Value* left = lifter.read(1, type);
  llvm::Value* right = lifter.read(2, type);
  llvm::Value* result = nullptr;
  switch (lifter.info().opcode) {
    case Opcode::and_:
      result = lifter.ir().CreateAnd(left, right);
      break;
    case Opcode::or_:
      result = lifter.ir().CreateOr(left, right);
      break;
    default:
      result = lifter.ir().CreateXor(left, right);
  }
  lifter.write(0, result, type);
}

void lift_not(InstructionLifter& lifter) {
  const ScalarType type = lifter.take_type();
  if (type != ScalarType::pred) refuse_other_than_bits(lifter, type);
  lifter.write(0, lifter.ir().CreateNot(lifter.read(1, type)), type);
}

void lift_cnot(InstructionLifter& lifter) {
  const ScalarType type = lifter.take_type();
  refuse_other_than_bits(lifter, type);
  llvm::IRBuilder<>& ir = lifter.ir();
  llvm::Value* value = lifter.read(1, type);
  llvm::Value* is_zero = ir.CreateICmpEQ(value, llvm::ConstantInt::get(value->getType(), 0));
  lifter.write(0, ir.CreateZExt(is_zero, value->getType()), type);
}

void lift_lop3(InstructionLifter& lifter) {
  const ScalarType type = lifter.take_type();
  if (type != ScalarType::b32) lifter.refuse_invalid("it needs .b32");
  const auto* table = std::get_if<IntegerLiteral>(&lifter.operand(4).value);
  if (table == nullptr || table->bits > 0xFF) lifter.refuse_invalid("its table is no byte");
  llvm::IRBuilder<>& ir = lifter.ir();
  llvm::Value* sources[3] = {lifter.read(1, type), lifter.read(2, type), lifter.read(3, type)};
  llvm::Value* result = ir.getInt32(0);
  // Bit i of the table is the result where (a, b, c) spells i, a being its highest bit.
  for (unsigned row = 0; row < 8; ++row) {
    if ((table->bits >> row & 1) == 0) continue;
    llvm::Value* term = nullptr;
    for (unsigned source = 0; source < 3; ++source) {
      const bool set = (row >> (2 - source) & 1) != 0;
      llvm::Value* factor = set ? sources[source] : ir.CreateNot(sources[source]);
      term = term == nullptr ? factor : ir.CreateAnd(term, factor);
    }
    result = ir.CreateOr(result, term);
  }
  lifter.write(0, result, type);
}

void lift_shift(InstructionLifter& lifter) {
  const ScalarType type = lifter.take_type();
  refuse_other_than_bits(lifter, type);
  llvm::Value* value = lifter.read(1, type);
  llvm::Value* amount = lifter.read(2, ScalarType::u32);
  lifter.write(0, shift(lifter, value, amount, type, lifter.info().opcode == Opcode::shl), type);
}

void lift_funnel_shift(InstructionLifter& lifter) {
  const auto direction = lifter.modifiers.take_any({"l", "r"});
  const auto mode = lifter.modifiers.take_any({"clamp", "wrap"});
  const ScalarType type = lifter.take_type();
  if (!direction || !mode || type != ScalarType::b32) {
    lifter.refuse_invalid("it needs a direction, .clamp or .wrap, and .b32");
  }
  llvm::IRBuilder<>& ir = lifter.ir();
  llvm::Value* low = lifter.read(1, type);
  llvm::Value* high = lifter.read(2, type);
  llvm::Value* amount = lifter.read(3, ScalarType::u32);
  const bool left = *direction == "l";
  // LLVM's funnel shifts take the amount modulo 32, as .wrap does.
  llvm::Value* result = lifter.ir().CreateIntrinsic(
      left ? llvm::Intrinsic::fshl : llvm::Intrinsic::fshr, {low->getType()}, {high, low, amount});
  if (*mode == "clamp") {
    result = ir.CreateSelect(ir.CreateICmpULT(amount, ir.getInt32(32)), result, left ? low : high);
  }
  lifter.write(0, result, type);
}

}  // namespace sluice::ptx::lift_detail
