// cvt between integers and floats of all widths.
// Source: PTX ISA, "cvt": rounding modifiers, .sat, and what NaN becomes.
#include <llvm/ADT/APFloat.h>
#include <llvm/IR/Constants.h>

#include "ptx/lift/arithmetic/directed_rounding.hpp"
#include "ptx/lift/arithmetic/float_helpers.hpp"
#include "ptx/lift/families.hpp"
#include "ptx/lift/flush.hpp"

namespace sluice::ptx::lift_detail {

namespace {

struct Conversion {
  ScalarType to;
  ScalarType from;
  std::string_view rounding;  // empty where none is written
  bool flush;
  bool saturate;
  bool relu;
};

void integer_to_integer(InstructionLifter& lifter, const Conversion& conversion) {
  llvm::IRBuilder<>& ir = lifter.ir();
  llvm::Value* value = lifter.read(1, conversion.from);
  const unsigned from_width = bit_width(conversion.from);
  const unsigned to_width = bit_width(conversion.to);
  llvm::Type* to = ir.getIntNTy(to_width);
  if (conversion.saturate) {
    // Both ranges fit into twice the wider type, where the clamp is a signed one.
    llvm::Type* wide = ir.getIntNTy(2 * std::max(from_width, to_width));
    value = is_signed(conversion.from) ? ir.CreateSExt(value, wide) : ir.CreateZExt(value, wide);
    const bool with_sign = is_signed(conversion.to);
    const unsigned width = wide->getIntegerBitWidth();
    const llvm::APInt least =
        with_sign ? llvm::APInt::getSignedMinValue(to_width).sext(width) : llvm::APInt(width, 0);
    const llvm::APInt most = with_sign ? llvm::APInt::getSignedMaxValue(to_width).zext(width)
                                       : llvm::APInt::getMaxValue(to_width).zext(width);
    value = lifter.ir().CreateIntrinsic(
        llvm::Intrinsic::smax, {wide},
        {value, llvm::ConstantInt::get(lifter.ir().getContext(), least)});
    value = lifter.ir().CreateIntrinsic(
        llvm::Intrinsic::smin, {wide},
        {value, llvm::ConstantInt::get(lifter.ir().getContext(), most)});
    value = ir.CreateTrunc(value, to);
  } else {
    value = is_signed(conversion.from) ? ir.CreateSExtOrTrunc(value, to)
                                       : ir.CreateZExtOrTrunc(value, to);
  }
  lifter.write(0, value, conversion.to);
}

llvm::Value* read_source_float(InstructionLifter& lifter, const Conversion& conversion) {
  llvm::Value* value = lifter.read(1, conversion.from);
  if (conversion.from == ScalarType::bf16) return widen_bf16(lifter, value);
  return conversion.flush && conversion.from == ScalarType::f32 ? flush(value, lifter.ir()) : value;
}

llvm::Value* round_to_integral(InstructionLifter& lifter, llvm::Value* value,
                               std::string_view rounding) {
  llvm::Intrinsic::ID id = llvm::Intrinsic::trunc;
  if (rounding == "rni") id = llvm::Intrinsic::roundeven;
  if (rounding == "rmi") id = llvm::Intrinsic::floor;
  if (rounding == "rpi") id = llvm::Intrinsic::ceil;
  return lifter.ir().CreateIntrinsic(id, {value->getType()}, {value});
}

bool is_integral(std::string_view rounding) {
  return rounding.size() == 3 && rounding.back() == 'i';
}

void float_to_integer(InstructionLifter& lifter, const Conversion& conversion) {
  if (!is_integral(conversion.rounding)) {
    lifter.refuse_invalid("one of .rni, .rzi, .rmi and .rpi is missing");
  }
  llvm::IRBuilder<>& ir = lifter.ir();
  llvm::Value* value = read_source_float(lifter, conversion);
  // With AVX512-FP16 LLVM 19 makes a half that is no number the least integer; floats have all
  // halves.
  if (conversion.from == ScalarType::f16) value = ir.CreateFPExt(value, ir.getFloatTy());
  llvm::Type* to = ir.getIntNTy(bit_width(conversion.to));
  llvm::Value* integral =
      conversion.rounding == "rzi" ? value : round_to_integral(lifter, value, conversion.rounding);
  // Out of range means the nearest end of the range, with and without .sat.
  llvm::Value* result = lifter.ir().CreateIntrinsic(
      is_signed(conversion.to) ? llvm::Intrinsic::fptosi_sat : llvm::Intrinsic::fptoui_sat,
      {to, value->getType()}, {integral});
  if (conversion.from == ScalarType::f64 || bit_width(conversion.to) == 64) {
    llvm::Constant* middle = llvm::ConstantInt::get(
        lifter.ir().getContext(), llvm::APInt::getSignedMinValue(bit_width(conversion.to)));
    result = ir.CreateSelect(is_nan(lifter, value), middle, result);
  }
  lifter.write(0, result, conversion.to);
}

void write_destination_float(InstructionLifter& lifter, llvm::Value* value,
                             const Conversion& conversion) {
  if (conversion.flush && conversion.to == ScalarType::f32) value = flush(value, lifter.ir());
  if (conversion.saturate) value = saturate(lifter, value);
  if (conversion.relu) value = relu(lifter, value);
  lifter.write(0, value, conversion.to);
}

bool is_directed(std::string_view rounding) {
  return rounding == "rz" || rounding == "rm" || rounding == "rp";
}

void float_to_bf16(InstructionLifter& lifter, llvm::Value* value, const Conversion& conversion) {
  const bool to_zero = conversion.rounding == "rz";
  if (is_directed(conversion.rounding) && !to_zero) {
    lifter.refuse_unimplemented("only .rn and .rz are lifted to .bf16");
  }
  if (is_integral(conversion.rounding)) {
    value = round_to_integral(lifter, value, conversion.rounding);
  }
  llvm::Type* single = lifter.ir().getFloatTy();
  if (value->getType()->isHalfTy()) value = lifter.ir().CreateFPExt(value, single);
  if (value->getType()->isDoubleTy()) {
    value = narrow(lifter, {value, nullptr}, single, to_zero ? "rz" : "odd");
  }
  if (conversion.saturate) value = saturate(lifter, value);
  if (conversion.relu) value = relu(lifter, value);
  lifter.write(0, narrow_bf16(lifter, value, to_zero), conversion.to);
}

void float_to_float(InstructionLifter& lifter, const Conversion& conversion) {
  llvm::IRBuilder<>& ir = lifter.ir();
  llvm::Value* value = read_source_float(lifter, conversion);
  const bool directed =
      conversion.rounding == "rz" || conversion.rounding == "rm" || conversion.rounding == "rp";
  if (conversion.to == ScalarType::bf16) return float_to_bf16(lifter, value, conversion);
  llvm::Type* to = value_type(lifter.ir().getContext(), conversion.to);
  if (is_integral(conversion.rounding)) {
    value = round_to_integral(lifter, value, conversion.rounding);
  }
  const unsigned from_width = static_cast<unsigned>(value->getType()->getPrimitiveSizeInBits());
  if (bit_width(conversion.to) < from_width) {
    if (directed) {
      value = narrow(lifter, {value, nullptr}, to, conversion.rounding);
    } else if (to->isHalfTy() && value->getType()->isDoubleTy()) {
      value = narrow_to_half(lifter, value);
    } else {
      value = ir.CreateFPTrunc(value, to);
    }
  } else if (value->getType() != to) {
    value = ir.CreateFPExt(value, to);
  }
  write_destination_float(lifter, value, conversion);
}

void integer_to_float(InstructionLifter& lifter, const Conversion& conversion) {
  llvm::IRBuilder<>& ir = lifter.ir();
  const unsigned digits = conversion.to == ScalarType::f64   ? 53
                          : conversion.to == ScalarType::f32 ? 24
                                                             : 11;
  const bool exact = bit_width(conversion.from) <= digits;
  llvm::Value* value = lifter.read(1, conversion.from);
  llvm::Type* to = value_type(lifter.ir().getContext(), conversion.to);
  const bool with_sign = is_signed(conversion.from);
  const bool directed = is_directed(conversion.rounding);
  if (conversion.to == ScalarType::bf16 || (!exact && directed)) {
    llvm::Type* wide = ir.getInt64Ty();
    value = with_sign ? ir.CreateSExt(value, wide) : ir.CreateZExt(value, wide);
    const ExactSum sum = exact_integer(lifter, value, with_sign);
    if (conversion.to == ScalarType::bf16) {
      value = narrow(lifter, sum, ir.getFloatTy(), directed ? conversion.rounding : "odd");
      return float_to_bf16(lifter, value, conversion);
    }
    value = narrow(lifter, sum, to, conversion.rounding);
  } else {
    value = with_sign ? ir.CreateSIToFP(value, to) : ir.CreateUIToFP(value, to);
  }
  write_destination_float(lifter, value, conversion);
}

}  // namespace

namespace {

// cvt.rn.f16x2.f32 d, a, b: a becomes the upper half, b the lower.
void pack_floats(InstructionLifter& lifter, const Conversion& conversion) {
  const bool to_zero = conversion.rounding == "rz";
  if (conversion.from != ScalarType::f32 || (conversion.rounding != "rn" && !to_zero)) {
    lifter.refuse_unimplemented("only .rn and .rz of .f32 are packed");
  }
  llvm::IRBuilder<>& ir = lifter.ir();
  llvm::Value* halves[2];
  for (size_t i = 0; i < 2; ++i) {
    llvm::Value* value = lifter.read(2 - i, conversion.from);
    if (conversion.saturate) value = saturate(lifter, value);
    if (conversion.relu) value = relu(lifter, value);
    if (conversion.to == ScalarType::bf16x2) {
      value = narrow_bf16(lifter, value, to_zero);
    } else {
      value = to_zero ? narrow(lifter, {value, nullptr}, ir.getHalfTy(), "rz")
                      : ir.CreateFPTrunc(value, ir.getHalfTy());
    }
    halves[i] = ir.CreateZExt(to_bits(lifter.ir(), value), ir.getInt32Ty());
  }
  lifter.write(0, ir.CreateOr(halves[0], ir.CreateShl(halves[1], 16)), conversion.to);
}

// cvt to .tf32: an f32 whose 13 lowest bits are 0. Rounding its integer rounds the float, up to and
// into infinity.
void round_to_tf32(InstructionLifter& lifter, const Conversion& conversion, bool finite) {
  if (conversion.from != ScalarType::f32) lifter.refuse_invalid("only .f32 becomes .tf32");
  llvm::IRBuilder<>& ir = lifter.ir();
  llvm::Value* value = lifter.read(1, conversion.from);
  llvm::Value* is_nan = ir.CreateFCmpUNO(value, value);
  llvm::Value* bits = to_bits(lifter.ir(), conversion.relu ? relu(lifter, value) : value);
  if (conversion.rounding == "rna") {
    bits = ir.CreateAdd(bits, ir.getInt32(0x1000));
  } else if (conversion.rounding == "rn") {
    llvm::Value* odd = ir.CreateAnd(ir.CreateLShr(bits, 13), 1);
    bits = ir.CreateAdd(bits, ir.CreateAdd(odd, ir.getInt32(0xFFF)));
  } else if (conversion.rounding != "rz") {
    lifter.refuse_invalid("a conversion to .tf32 has .rn, .rna or .rz");
  }
  bits = ir.CreateAnd(bits, ir.getInt32(0xFFFFE000));
  if (finite) {
    llvm::Value* sign = ir.CreateAnd(bits, ir.getInt32(0x80000000));
    llvm::Value* size = ir.CreateAnd(bits, ir.getInt32(0x7FFFFFFF));
    size = ir.CreateBinaryIntrinsic(llvm::Intrinsic::umin, size, ir.getInt32(0x7F7FE000));
    bits = ir.CreateOr(sign, size);
  }
  lifter.write(0, ir.CreateSelect(is_nan, ir.getInt32(0x7FFFFFFF), bits), ScalarType::b32);
}

}  // namespace

void lift_cvt(InstructionLifter& lifter) {
  if (lifter.modifiers.take("pack")) return lift_cvt_pack(lifter);
  Conversion conversion;
  conversion.to = lifter.take_type();
  conversion.from = lifter.take_type();
  if (lift_eight_bit_floats(lifter, conversion.to, conversion.from)) return;
  conversion.rounding =
      lifter.modifiers.take_any({"rn", "rna", "rz", "rm", "rp", "rni", "rzi", "rmi", "rpi"})
          .value_or("");
  conversion.flush = lifter.modifiers.take("ftz");
  conversion.saturate = lifter.modifiers.take("sat");
  conversion.relu = lifter.modifiers.take("relu");
  if (conversion.to == ScalarType::tf32) {
    return round_to_tf32(lifter, conversion, lifter.modifiers.take("satfinite"));
  }
  if (conversion.rounding == "rna") lifter.refuse_invalid("only .tf32 is rounded by .rna");
  if (lifter.operand_count() != 2) {
    if (lane_type(conversion.to) == conversion.to) lifter.refuse_invalid("its type is not packed");
    return pack_floats(lifter, conversion);
  }
  const bool to_float = is_float(conversion.to);
  const bool from_float = is_float(conversion.from);
  if ((!to_float && !is_integer(conversion.to)) || (!from_float && !is_integer(conversion.from))) {
    lifter.refuse_unimplemented("packed and narrow types are not lifted yet");
  }
  if (to_float) {
    from_float ? float_to_float(lifter, conversion) : integer_to_float(lifter, conversion);
  } else {
    from_float ? float_to_integer(lifter, conversion) : integer_to_integer(lifter, conversion);
  }
}

}  // namespace sluice::ptx::lift_detail
