// Counting, finding, extracting, inserting and permuting bits.
#include <algorithm>

#include <llvm/IR/Constants.h>

#include "ptx/lift/families.hpp"

namespace sluice::ptx::lift_detail {

namespace {

void refuse_other_than_32_or_64(InstructionLifter& lifter, ScalarType type) {
  if (!is_integer(type) || (bit_width(type) != 32 && bit_width(type) != 64)) {
    lifter.refuse_invalid("it needs a type of 32 or 64 bits");
  }
}

// Field positions are 8-bit numbers; here they are widened to the type of the value.
llvm::Value* read_byte(InstructionLifter& lifter, size_t index, llvm::Type* type) {
  llvm::Value* word = lifter.read(index, ScalarType::u32);
  return lifter.ir().CreateZExtOrTrunc(lifter.ir().CreateAnd(word, lifter.ir().getInt32(0xFF)),
                                       type);
}

// low_ones() has the `count` lowest bits set, all of them where count is the width or more.
llvm::Value* low_ones(InstructionLifter& lifter, llvm::Value* count) {
  llvm::IRBuilder<>& ir = lifter.ir();
  llvm::Type* type = count->getType();
  const unsigned width = type->getIntegerBitWidth();
  llvm::Value* some = ir.CreateNot(ir.CreateShl(llvm::Constant::getAllOnesValue(type), count));
  return ir.CreateSelect(ir.CreateICmpULT(count, llvm::ConstantInt::get(type, width)), some,
                         llvm::Constant::getAllOnesValue(type));
}

llvm::Value* clamped_shift(InstructionLifter& lifter, llvm::Value* value, llvm::Value* amount,
                           bool left) {
  llvm::IRBuilder<>& ir = lifter.ir();
  llvm::Type* type = value->getType();
  llvm::Value* shifted = left ? ir.CreateShl(value, amount) : ir.CreateLShr(value, amount);
  llvm::Value* in_range =
      ir.CreateICmpULT(amount, llvm::ConstantInt::get(type, type->getIntegerBitWidth()));
  return ir.CreateSelect(in_range, shifted, llvm::ConstantInt::get(type, 0));
}

}  // namespace

void lift_bit_count(InstructionLifter& lifter) {
  const ScalarType type = lifter.take_type();
  refuse_other_than_32_or_64(lifter, type);
  llvm::Value* value = lifter.read(1, type);
  llvm::Type* value_type = value->getType();
  llvm::Value* count =
      lifter.info().opcode == Opcode::popc
          ? lifter.ir().CreateIntrinsic(llvm::Intrinsic::ctpop, {value_type}, {value})
          : lifter.ir().CreateIntrinsic(llvm::Intrinsic::ctlz, {value_type},
                                        {value, lifter.ir().getFalse()});
  lifter.write(0, lifter.ir().CreateZExtOrTrunc(count, lifter.ir().getInt32Ty()), ScalarType::u32);
}

void lift_brev(InstructionLifter& lifter) {
  const ScalarType type = lifter.take_type();
  refuse_other_than_32_or_64(lifter, type);
  llvm::Value* value = lifter.read(1, type);
  lifter.write(
      0, lifter.ir().CreateIntrinsic(llvm::Intrinsic::bitreverse, {value->getType()}, {value}),
      type);
}

void lift_bfind(InstructionLifter& lifter) {
  const bool as_shift = lifter.modifiers.take("shiftamt");
  const ScalarType type = lifter.take_type();
  refuse_other_than_32_or_64(lifter, type);
  llvm::IRBuilder<>& ir = lifter.ir();
  llvm::Value* value = lifter.read(1, type);
  llvm::Type* value_type = value->getType();
  const unsigned width = bit_width(type);
  // For a signed type it finds the highest bit that differs from the sign.
  if (is_signed(type)) value = ir.CreateXor(value, ir.CreateAShr(value, width - 1));
  llvm::Value* zeros = ir.CreateZExtOrTrunc(
      lifter.ir().CreateIntrinsic(llvm::Intrinsic::ctlz, {value_type}, {value, ir.getFalse()}),
      ir.getInt32Ty());
  llvm::Value* none = ir.CreateICmpEQ(value, llvm::ConstantInt::get(value_type, 0));
  llvm::Value* found = as_shift ? zeros : ir.CreateSub(ir.getInt32(width - 1), zeros);
  lifter.write(0, ir.CreateSelect(none, ir.getInt32(0xFFFFFFFF), found), ScalarType::u32);
}

void lift_bfe(InstructionLifter& lifter) {
  const ScalarType type = lifter.take_type();
  refuse_other_than_32_or_64(lifter, type);
  llvm::IRBuilder<>& ir = lifter.ir();
  llvm::Value* value = lifter.read(1, type);
  llvm::Type* value_type = value->getType();
  llvm::Value* position = read_byte(lifter, 2, value_type);
  llvm::Value* length = read_byte(lifter, 3, value_type);
  llvm::Value* mask = low_ones(lifter, length);
  llvm::Value* result = ir.CreateAnd(clamped_shift(lifter, value, position, false), mask);
  if (is_signed(type)) {
    // The sign is the field's highest bit, or the value's where the field reaches past it.
    llvm::Constant* last = llvm::ConstantInt::get(value_type, bit_width(type) - 1);
    llvm::Value* end =
        ir.CreateSub(ir.CreateAdd(position, length), llvm::ConstantInt::get(value_type, 1));
    llvm::Value* sign_position =
        lifter.ir().CreateIntrinsic(llvm::Intrinsic::umin, {value_type}, {end, last});
    llvm::Value* sign = ir.CreateTrunc(ir.CreateLShr(value, sign_position), ir.getInt1Ty());
    llvm::Value* with_sign = ir.CreateOr(result, ir.CreateNot(mask));
    // Bits of the field that lie beyond the value are signs, too.
    llvm::Value* beyond = ir.CreateNot(
        clamped_shift(lifter, llvm::Constant::getAllOnesValue(value_type), position, false));
    with_sign = ir.CreateOr(with_sign, beyond);
    llvm::Value* empty = ir.CreateICmpEQ(length, llvm::ConstantInt::get(value_type, 0));
    result = ir.CreateSelect(sign, with_sign, result);
    result = ir.CreateSelect(empty, llvm::ConstantInt::get(value_type, 0), result);
  }
  lifter.write(0, result, type);
}

void lift_bfi(InstructionLifter& lifter) {
  const ScalarType type = lifter.take_type();
  refuse_other_than_32_or_64(lifter, type);
  llvm::IRBuilder<>& ir = lifter.ir();
  llvm::Value* inserted = lifter.read(1, type);
  llvm::Value* base = lifter.read(2, type);
  llvm::Value* position = read_byte(lifter, 3, base->getType());
  llvm::Value* length = read_byte(lifter, 4, base->getType());
  llvm::Value* mask = clamped_shift(lifter, low_ones(lifter, length), position, true);
  llvm::Value* field = ir.CreateAnd(clamped_shift(lifter, inserted, position, true), mask);
  lifter.write(0, ir.CreateOr(field, ir.CreateAnd(base, ir.CreateNot(mask))), type);
}

void lift_bmsk(InstructionLifter& lifter) {
  const auto mode = lifter.modifiers.take_any({"clamp", "wrap"});
  const ScalarType type = lifter.take_type();
  if (!mode || type != ScalarType::b32) lifter.refuse_invalid("it needs .clamp or .wrap, and .b32");
  llvm::IRBuilder<>& ir = lifter.ir();
  llvm::Value* position = lifter.read(1, ScalarType::u32);
  llvm::Value* length = lifter.read(2, ScalarType::u32);
  if (*mode == "wrap") {
    position = ir.CreateAnd(position, 31);
    length = ir.CreateAnd(length, 31);
  }
  lifter.write(0, clamped_shift(lifter, low_ones(lifter, length), position, true), type);
}

void lift_szext(InstructionLifter& lifter) {
  const auto mode = lifter.modifiers.take_any({"clamp", "wrap"});
  const ScalarType type = lifter.take_type();
  if (!mode || bit_width(type) != 32) lifter.refuse_invalid("it needs .clamp or .wrap");
  llvm::IRBuilder<>& ir = lifter.ir();
  llvm::Value* value = lifter.read(1, type);
  llvm::Value* length = lifter.read(2, ScalarType::u32);
  if (*mode == "wrap") length = ir.CreateAnd(length, 31);
  llvm::Value* mask = low_ones(lifter, length);
  llvm::Value* result = ir.CreateAnd(value, mask);
  if (is_signed(type)) {
    // The sign is the highest of the bits that are kept; of none it is zero.
    llvm::Value* top = ir.CreateAnd(ir.CreateNot(ir.CreateLShr(mask, 1)), mask);
    llvm::Value* negative = ir.CreateICmpNE(ir.CreateAnd(value, top), ir.getInt32(0));
    result = ir.CreateSelect(negative, ir.CreateOr(result, ir.CreateNot(mask)), result);
  }
  lifter.write(0, result, type);
}

namespace {

// mode_selector() is the selector, a nibble for each byte of the result, that a mode of prmt and
// the two lowest bits of its last operand stand for.
llvm::Value* mode_selector(llvm::IRBuilder<>& ir, std::string_view mode, llvm::Value* operand) {
  const auto byte_of = [&](unsigned from, unsigned byte) -> unsigned {
    if (mode == "f4e") return from + byte;
    if (mode == "b4e") return (from - byte) % 8;
    if (mode == "rc8") return from;
    if (mode == "ecl") return std::max(from, byte);
    if (mode == "ecr") return std::min(from, byte);
    return byte % 2 + 2 * (from % 2);  // rc16
  };
  uint64_t selectors = 0;
  for (unsigned from = 0; from < 4; ++from) {
    for (unsigned byte = 0; byte < 4; ++byte)
      selectors |= uint64_t{byte_of(from, byte)} << (16 * from + 4 * byte);
  }
  llvm::Value* shift = ir.CreateShl(ir.CreateAnd(operand, ir.getInt32(3)), 4);
  return ir.CreateTrunc(
      ir.CreateLShr(ir.getInt64(selectors), ir.CreateZExt(shift, ir.getInt64Ty())),
      ir.getInt32Ty());
}

}  // namespace

void lift_prmt(InstructionLifter& lifter) {
  const ScalarType type = lifter.take_type();
  if (type != ScalarType::b32) lifter.refuse_invalid("it needs .b32");
  const auto mode = lifter.modifiers.take_any({"f4e", "b4e", "rc8", "ecl", "ecr", "rc16"});
  llvm::IRBuilder<>& ir = lifter.ir();
  llvm::Type* wide = ir.getInt64Ty();
  llvm::Value* bytes = ir.CreateOr(ir.CreateZExt(lifter.read(1, type), wide),
                                   ir.CreateShl(ir.CreateZExt(lifter.read(2, type), wide), 32));
  llvm::Value* selector = lifter.read(3, type);
  if (mode) selector = mode_selector(ir, *mode, selector);
  llvm::Value* result = ir.getInt32(0);
  for (unsigned byte = 0; byte < 4; ++byte) {
    // Each nibble selects one of eight bytes; its highest bit replicates that byte's sign.
    llvm::Value* nibble = ir.CreateLShr(selector, uint64_t{4} * byte);
    llvm::Value* position =
        ir.CreateZExt(ir.CreateShl(ir.CreateAnd(nibble, ir.getInt32(7)), 3), wide);
    llvm::Value* picked = ir.CreateTrunc(ir.CreateLShr(bytes, position), ir.getInt8Ty());
    llvm::Value* replicate = ir.CreateICmpNE(ir.CreateAnd(nibble, ir.getInt32(8)), ir.getInt32(0));
    picked = ir.CreateSelect(replicate, ir.CreateAShr(picked, 7), picked);
    result = ir.CreateOr(result,
                         ir.CreateShl(ir.CreateZExt(picked, ir.getInt32Ty()), uint64_t{8} * byte));
  }
  lifter.write(0, result, type);
}

}  // namespace sluice::ptx::lift_detail
