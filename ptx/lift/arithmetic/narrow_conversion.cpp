// cvt.pack, and cvt to and from pairs of 8-bit floats.
// Source: PTX ISA, "cvt.pack" and "cvt"; "Alternate Floating-Point Data Formats" for e4m3 and e5m2.
#include <cmath>

#include <llvm/IR/Constants.h>

#include "ptx/lift/arithmetic/float_helpers.hpp"
#include "ptx/lift/families.hpp"

namespace sluice::ptx::lift_detail {

namespace {

// Format is an 8-bit float: a sign, an exponent and a fraction.
struct Format {
  unsigned fraction_bits;
  int bias;
  uint32_t greatest;  // finite
};
constexpr Format e4m3 = {.fraction_bits = 3, .bias = 7, .greatest = 0x7E};
constexpr Format e5m2 = {.fraction_bits = 2, .bias = 15, .greatest = 0x7B};
constexpr uint32_t canonical_nan = 0x7F;  // of both

const Format* format_of(ScalarType type) {
  if (type == ScalarType::e4m3x2) return &e4m3;
  return type == ScalarType::e5m2x2 ? &e5m2 : nullptr;
}

// encode() rounds a float to nearest even and holds it in the format's range; 32 bits come back.
llvm::Value* encode(InstructionLifter& lifter, llvm::Value* value, const Format& format,
                    bool clamps) {
  llvm::IRBuilder<>& ir = lifter.ir();
  llvm::Value* bits = to_bits(lifter.ir(), clamps ? relu(lifter, value) : value);
  llvm::Value* size = ir.CreateAnd(bits, 0x7FFFFFFF);
  // Normal numbers: the exponent gets the other bias, and rounding may carry into it.
  const unsigned dropped = 23 - format.fraction_bits;
  llvm::Value* rebased =
      ir.CreateSub(size, ir.getInt32(static_cast<uint32_t>(127 - format.bias) << 23U));
  llvm::Value* odd = ir.CreateAnd(ir.CreateLShr(rebased, dropped), 1);
  llvm::Value* half = ir.getInt32((1U << (dropped - 1)) - 1);
  llvm::Value* normal = ir.CreateLShr(ir.CreateAdd(rebased, ir.CreateAdd(odd, half)), dropped);
  // The others: a sum whose last place is that of the fraction's rounds alike.
  const float place = std::ldexp(1.0F, 24 - static_cast<int>(format.fraction_bits) - format.bias);
  llvm::Constant* shift = llvm::ConstantFP::get(ir.getFloatTy(), place);
  llvm::Value* sum = ir.CreateFAdd(ir.CreateBitCast(size, ir.getFloatTy()), shift);
  llvm::Value* subnormal = ir.CreateSub(to_bits(lifter.ir(), sum), to_bits(lifter.ir(), shift));
  llvm::Constant* least = ir.getInt32(static_cast<uint32_t>(128 - format.bias) << 23U);
  llvm::Value* magnitude = ir.CreateSelect(ir.CreateICmpULT(size, least), subnormal, normal);
  magnitude =
      ir.CreateBinaryIntrinsic(llvm::Intrinsic::umin, magnitude, ir.getInt32(format.greatest));
  llvm::Value* sign = ir.CreateAnd(ir.CreateLShr(bits, 24), 0x80);
  return ir.CreateSelect(is_nan(lifter, value), ir.getInt32(canonical_nan),
                         ir.CreateOr(sign, magnitude));
}

// decode() is a number of the format, in 16 bits, as the bits of an f16, which holds them all.
llvm::Value* decode(InstructionLifter& lifter, llvm::Value* bits, const Format& format,
                    bool clamps) {
  llvm::IRBuilder<>& ir = lifter.ir();
  llvm::Value* size = ir.CreateAnd(bits, 0x7F);
  llvm::Value* sign = ir.CreateShl(ir.CreateAnd(bits, 0x80), 8);
  llvm::Value* placed = ir.CreateShl(size, 10 - format.fraction_bits);
  if (format.bias != 15) {
    llvm::Constant* scale =
        llvm::ConstantFP::get(ir.getHalfTy(), std::ldexp(1.0, 15 - format.bias));
    placed = to_bits(lifter.ir(), ir.CreateFMul(ir.CreateBitCast(placed, ir.getHalfTy()), scale));
  }
  // Beyond the greatest, e5m2 has infinity before its NaNs, e4m3 one NaN alone.
  const uint16_t first_nan = format.bias == 15 ? 0x7D : 0x7F;
  llvm::Value* is_nan = ir.CreateICmpUGE(size, ir.getInt16(first_nan));
  llvm::Value* number = ir.CreateOr(sign, placed);
  if (clamps)
    number = ir.CreateSelect(ir.CreateICmpNE(sign, ir.getInt16(0)), ir.getInt16(0), number);
  return ir.CreateSelect(is_nan, ir.getInt16(0x7FFF), number);
}

// lift_to_pair() packs two floats, the first source on top, or the lanes of an f16x2.
void lift_to_pair(InstructionLifter& lifter, ScalarType from, const Format& format, bool clamps) {
  llvm::IRBuilder<>& ir = lifter.ir();
  Lanes sources;
  if (from == ScalarType::f32 && lifter.operand_count() == 3) {
    sources = {lifter.read(2, from), lifter.read(1, from)};
  } else if (from == ScalarType::f16x2 && lifter.operand_count() == 2) {
    for (llvm::Value* lane : split(lifter, lifter.read(1, from), from))
      sources.push_back(ir.CreateFPExt(lane, ir.getFloatTy()));
  } else {
    lifter.refuse_invalid("it needs two of .f32 or one of .f16x2");
  }
  llvm::Value* low = encode(lifter, sources[0], format, clamps);
  llvm::Value* high = encode(lifter, sources[1], format, clamps);
  llvm::Value* both = ir.CreateOr(low, ir.CreateShl(high, 8));
  lifter.write(0, ir.CreateTrunc(both, ir.getInt16Ty()), ScalarType::b16);
}

void lift_from_pair(InstructionLifter& lifter, ScalarType to, const Format& format, bool clamps) {
  if (to != ScalarType::f16x2 || lifter.operand_count() != 2) {
    lifter.refuse_invalid("it becomes one of .f16x2");
  }
  llvm::IRBuilder<>& ir = lifter.ir();
  llvm::Value* pair = lifter.read(1, ScalarType::b16);
  llvm::Value* low = decode(lifter, ir.CreateAnd(pair, 0xFF), format, clamps);
  llvm::Value* high = decode(lifter, ir.CreateLShr(pair, 8), format, clamps);
  llvm::Value* both = ir.CreateOr(ir.CreateZExt(low, ir.getInt32Ty()),
                                  ir.CreateShl(ir.CreateZExt(high, ir.getInt32Ty()), 16));
  lifter.write(0, both, ScalarType::b32);
}

}  // namespace

bool lift_eight_bit_floats(InstructionLifter& lifter, ScalarType to, ScalarType from) {
  const Format* wanted = format_of(to);
  const Format* given = format_of(from);
  if (wanted == nullptr && given == nullptr) return false;
  const bool clamps = lifter.modifiers.take("relu");
  const bool rounds = lifter.modifiers.take("rn");
  const bool is_finite = lifter.modifiers.take("satfinite");
  if (!rounds || is_finite != (wanted != nullptr)) {
    lifter.refuse_invalid("it needs .rn, and .satfinite where it makes .e4m3x2 or .e5m2x2");
  }
  if (wanted != nullptr) {
    lift_to_pair(lifter, from, *wanted, clamps);
  } else {
    lift_from_pair(lifter, to, *given, clamps);
  }
  return true;
}

void lift_cvt_pack(InstructionLifter& lifter) {
  const auto to =
      lifter.modifiers.take_first({"u16", "s16", "u8", "s8", "u4", "s4", "u2", "s2"}).value_or("");
  const bool saturates = lifter.modifiers.take("sat");
  const bool is_of_s32 = lifter.modifiers.take("s32");
  if (to.empty() || !saturates || !is_of_s32) {
    lifter.refuse_invalid("it needs .sat, a type to pack, and .s32");
  }
  const bool is_half = to == "u16" || to == "s16";
  if (!is_half && !lifter.modifiers.take("b32")) lifter.refuse_invalid("its last type is .b32");
  if (lifter.operand_count() != (is_half ? 3 : 4)) {
    lifter.refuse_invalid(
        "it has a third source where, and only where, it packs less than 16 bits");
  }
  llvm::IRBuilder<>& ir = lifter.ir();
  const unsigned width = is_half ? 16 : static_cast<unsigned>(to.back() - '0');
  const bool with_sign = to.front() == 's';
  const int32_t least = with_sign ? -(1 << (width - 1)) : 0;
  const int32_t most = (1 << (with_sign ? width - 1 : width)) - 1;
  const auto clamped = [&](size_t source) {
    llvm::Value* value = lifter.read(source, ScalarType::s32);
    value = ir.CreateBinaryIntrinsic(
        llvm::Intrinsic::smax, value,
        llvm::ConstantInt::get(value->getType(), static_cast<uint32_t>(least)));
    value = ir.CreateBinaryIntrinsic(
        llvm::Intrinsic::smin, value,
        llvm::ConstantInt::get(value->getType(), static_cast<uint32_t>(most)));
    return ir.CreateAnd(value, (uint64_t{1} << width) - 1);
  };
  // The first source on top; what a third one gives moves up.
  llvm::Value* packed = ir.CreateOr(clamped(2), ir.CreateShl(clamped(1), width));
  if (!is_half) {
    packed =
        ir.CreateOr(packed, ir.CreateShl(lifter.read(3, ScalarType::b32), uint64_t{2} * width));
  }
  lifter.write(0, packed, ScalarType::b32);
}

}  // namespace sluice::ptx::lift_detail
