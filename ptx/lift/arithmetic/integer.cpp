// Integer arithmetic. It wraps, as PTX says, so nothing carries nsw or nuw.
#include "ptx/lift/arithmetic/integer_helpers.hpp"
#include "ptx/lift/families.hpp"

namespace sluice::ptx::lift_detail {

llvm::Value* widen(InstructionLifter& lifter, llvm::Value* value, ScalarType type) {
  llvm::Type* wide = lifter.ir().getIntNTy(2 * bit_width(type));
  return is_signed(type) ? lifter.ir().CreateSExt(value, wide)
                         : lifter.ir().CreateZExt(value, wide);
}

llvm::Value* high_half(InstructionLifter& lifter, llvm::Value* wide) {
  const unsigned width = wide->getType()->getIntegerBitWidth() / 2;
  return lifter.ir().CreateTrunc(lifter.ir().CreateLShr(wide, width), lifter.ir().getIntNTy(width));
}

ScalarType double_width(InstructionLifter& lifter, ScalarType type) {
  switch (type) {
    case ScalarType::u16:
      return ScalarType::u32;
    case ScalarType::s16:
      return ScalarType::s32;
    case ScalarType::u32:
      return ScalarType::u64;
    case ScalarType::s32:
      return ScalarType::s64;
    default:
      lifter.refuse_invalid(".wide needs a type of 16 or 32 bits");
  }
}

void lift_integer_add_sub(InstructionLifter& lifter, ScalarType type) {
  if (lifter.modifiers.take("cc")) return lift_add_sub_carry(lifter, type, false, true);
  const bool adds = lifter.info().opcode == Opcode::add;
  llvm::Value* left = lifter.read(1, type);
  llvm::Value* right = lifter.read(2, type);
  llvm::Value* result = nullptr;
  if (lifter.modifiers.take("sat")) {
    if (type != ScalarType::s32) lifter.refuse_invalid(".sat needs .s32");
    result =
        lifter.ir().CreateIntrinsic(adds ? llvm::Intrinsic::sadd_sat : llvm::Intrinsic::ssub_sat,
                                    {left->getType()}, {left, right});
  } else {
    result = adds ? lifter.ir().CreateAdd(left, right) : lifter.ir().CreateSub(left, right);
  }
  lifter.write(0, result, type);
}

void lift_integer_mul(InstructionLifter& lifter, ScalarType type) {
  const auto part = lifter.modifiers.take_any({"lo", "hi", "wide"});
  if (!part) lifter.refuse_invalid("one of .lo, .hi and .wide is missing");
  llvm::Value* left = lifter.read(1, type);
  llvm::Value* right = lifter.read(2, type);
  if (*part == "lo") return lifter.write(0, lifter.ir().CreateMul(left, right), type);
  llvm::Value* product =
      lifter.ir().CreateMul(widen(lifter, left, type), widen(lifter, right, type));
  if (*part == "hi") return lifter.write(0, high_half(lifter, product), type);
  lifter.write(0, product, double_width(lifter, type));
}

void lift_integer_mad(InstructionLifter& lifter, ScalarType type) {
  if (lifter.modifiers.take("cc")) return lift_mad_carry(lifter, type, false, true);
  const auto part = lifter.modifiers.take_any({"lo", "hi", "wide"});
  if (!part) lifter.refuse_invalid("one of .lo, .hi and .wide is missing");
  llvm::Value* left = lifter.read(1, type);
  llvm::Value* right = lifter.read(2, type);
  const ScalarType result_type = *part == "wide" ? double_width(lifter, type) : type;
  llvm::Value* addend = lifter.read(3, result_type);
  llvm::Value* product = nullptr;
  if (*part == "lo") {
    product = lifter.ir().CreateMul(left, right);
  } else {
    product = lifter.ir().CreateMul(widen(lifter, left, type), widen(lifter, right, type));
    if (*part == "hi") product = high_half(lifter, product);
  }
  if (lifter.modifiers.take("sat")) {
    if (*part != "hi" || type != ScalarType::s32) lifter.refuse_invalid(".sat needs .hi.s32");
    return lifter.write(0,
                        lifter.ir().CreateIntrinsic(llvm::Intrinsic::sadd_sat, {addend->getType()},
                                                    {product, addend}),
                        type);
  }
  lifter.write(0, lifter.ir().CreateAdd(product, addend), result_type);
}

void lift_integer_min_max(InstructionLifter& lifter, ScalarType type) {
  const bool minimum = lifter.info().opcode == Opcode::min;
  llvm::Value* left = lifter.read(1, type);
  llvm::Value* right = lifter.read(2, type);
  const auto id = is_signed(type) ? (minimum ? llvm::Intrinsic::smin : llvm::Intrinsic::smax)
                                  : (minimum ? llvm::Intrinsic::umin : llvm::Intrinsic::umax);
  lifter.write(0, lifter.ir().CreateIntrinsic(id, {left->getType()}, {left, right}), type);
}

void lift_integer_abs(InstructionLifter& lifter, ScalarType type) {
  llvm::Value* value = lifter.read(1, type);
  // The last argument says that the most negative value is its own magnitude, not poison.
  lifter.write(0,
               lifter.ir().CreateIntrinsic(llvm::Intrinsic::abs, {value->getType()},
                                           {value, lifter.ir().getFalse()}),
               type);
}

void lift_integer_neg(InstructionLifter& lifter, ScalarType type) {
  lifter.write(0, lifter.ir().CreateNeg(lifter.read(1, type)), type);
}

void lift_mul24(InstructionLifter& lifter) {
  const ScalarType type = lifter.take_type();
  const auto part = lifter.modifiers.take_any({"lo", "hi"});
  if (!part || bit_width(type) != 32) lifter.refuse_invalid("it needs .lo or .hi and 32 bits");
  const bool saturates = lifter.modifiers.take("sat");
  llvm::IRBuilder<>& ir = lifter.ir();
  auto low_24 = [&](size_t index) {
    llvm::Value* high = ir.CreateShl(lifter.read(index, type), 8);
    return is_signed(type) ? ir.CreateAShr(high, 8) : ir.CreateLShr(high, 8);
  };
  llvm::Value* product =
      ir.CreateMul(widen(lifter, low_24(1), type), widen(lifter, low_24(2), type));
  if (*part == "hi") product = ir.CreateLShr(product, 16);
  llvm::Value* result = ir.CreateTrunc(product, ir.getInt32Ty());
  if (lifter.info().opcode == Opcode::mad24) {
    llvm::Value* more = lifter.read(3, type);
    result = saturates ? ir.CreateBinaryIntrinsic(llvm::Intrinsic::sadd_sat, result, more)
                       : ir.CreateAdd(result, more);
  }
  lifter.write(0, result, type);
}

void lift_sad(InstructionLifter& lifter) {
  const ScalarType type = lifter.take_type();
  llvm::Value* left = lifter.read(1, type);
  llvm::Value* right = lifter.read(2, type);
  llvm::Value* less = is_signed(type) ? lifter.ir().CreateICmpSLT(left, right)
                                      : lifter.ir().CreateICmpULT(left, right);
  llvm::Value* distance = lifter.ir().CreateSelect(less, lifter.ir().CreateSub(right, left),
                                                   lifter.ir().CreateSub(left, right));
  lifter.write(0, lifter.ir().CreateAdd(distance, lifter.read(3, type)), type);
}

void lift_dot_product(InstructionLifter& lifter) {
  const bool pairs = lifter.info().opcode == Opcode::dp2a;
  const auto part = pairs ? lifter.modifiers.take_any({"lo", "hi"}) : std::nullopt;
  const ScalarType left_type = lifter.take_type();
  const ScalarType right_type = lifter.take_type();
  if (bit_width(left_type) != 32 || bit_width(right_type) != 32 || pairs != part.has_value()) {
    lifter.refuse_invalid("it needs types of 32 bits, and dp2a .lo or .hi");
  }
  llvm::IRBuilder<>& ir = lifter.ir();
  auto field = [&](llvm::Value* word, unsigned width, unsigned index, bool with_sign) {
    llvm::Value* high = ir.CreateShl(word, 32 - width * (index + 1));
    return with_sign ? ir.CreateAShr(high, 32 - width) : ir.CreateLShr(high, 32 - width);
  };
  llvm::Value* left = lifter.read(1, left_type);
  llvm::Value* right = lifter.read(2, right_type);
  const bool any_signed = is_signed(left_type) || is_signed(right_type);
  const ScalarType result_type = any_signed ? ScalarType::s32 : ScalarType::u32;
  llvm::Value* sum = lifter.read(3, result_type);
  // dp4a multiplies bytes by bytes, dp2a halves by the lower or upper two bytes.
  const unsigned first_byte = part == "hi" ? 2 : 0;
  for (unsigned i = 0; i < (pairs ? 2U : 4U); ++i) {
    llvm::Value* product = ir.CreateMul(field(left, pairs ? 16 : 8, i, is_signed(left_type)),
                                        field(right, 8, first_byte + i, is_signed(right_type)));
    sum = ir.CreateAdd(sum, product);
  }
  lifter.write(0, sum, result_type);
}

}  // namespace sluice::ptx::lift_detail
