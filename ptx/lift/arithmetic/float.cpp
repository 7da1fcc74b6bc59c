// Floating point arithmetic. Nothing is contracted: PTX writes fma where
// it wants one.
#include <llvm/ADT/APFloat.h>
#include <llvm/IR/Constants.h>

#include "ptx/lift/arithmetic/directed_rounding.hpp"
#include "ptx/lift/arithmetic/float_helpers.hpp"
#include "ptx/lift/families.hpp"

namespace sluice::ptx::lift_detail {

namespace {

// fma_narrow() is the fused operation on f16 and bf16: the product is exact in double, the sum
// exact as two doubles, and a float rounded to odd leaves the last rounding as it should be.
llvm::Value* fma_narrow(InstructionLifter& lifter, const Lanes& sources) {
  llvm::IRBuilder<>& ir = lifter.ir();
  auto wide = [&](size_t i) { return ir.CreateFPExt(sources[i], ir.getDoubleTy()); };
  const ExactSum exact = two_sum(lifter, ir.CreateFMul(wide(0), wide(1)), wide(2));
  llvm::Value* odd = narrow(lifter, exact, ir.getFloatTy(), "odd");
  return sources[0]->getType()->isHalfTy() ? ir.CreateFPTrunc(odd, ir.getHalfTy()) : odd;
}

bool is_directed(const FloatMode& mode) {
  return !mode.rounding.empty();
}

}  // namespace

void lift_float_add_sub(InstructionLifter& lifter, ScalarType type) {
  const FloatMode mode = take_arithmetic_mode(lifter, type);
  const bool adds = lifter.info().opcode == Opcode::add;
  lift_lanes(lifter, mode, 2, [&](const Lanes& sources) {
    llvm::IRBuilder<>& ir = lifter.ir();
    llvm::Value* right = adds ? sources[1] : ir.CreateFNeg(sources[1]);
    if (is_directed(mode)) return directed_add(lifter, sources[0], right, mode.rounding);
    return adds ? ir.CreateFAdd(sources[0], right) : ir.CreateFSub(sources[0], sources[1]);
  });
}

void lift_float_mul(InstructionLifter& lifter, ScalarType type) {
  const FloatMode mode = take_arithmetic_mode(lifter, type);
  lift_lanes(lifter, mode, 2, [&](const Lanes& sources) {
    if (is_directed_double(mode)) return directed_double(lifter, sources, mode.rounding);
    return is_directed(mode) ? directed_mul(lifter, sources[0], sources[1], mode.rounding)
                             : lifter.ir().CreateFMul(sources[0], sources[1]);
  });
}

void lift_float_div(InstructionLifter& lifter, ScalarType type) {
  // The approximate forms may err by two units in the last place; the exact quotient is within.
  lifter.modifiers.take_any({"approx", "full"});
  const FloatMode mode = take_arithmetic_mode(lifter, type);
  lift_lanes(lifter, mode, 2, [&](const Lanes& sources) {
    if (is_directed_double(mode)) return directed_double(lifter, sources, mode.rounding);
    return is_directed(mode) ? directed_div(lifter, sources[0], sources[1], mode.rounding)
                             : lifter.ir().CreateFDiv(sources[0], sources[1]);
  });
}

void lift_fma(InstructionLifter& lifter) {
  lift_float_fma(lifter, lifter.take_type());
}

void lift_float_fma(InstructionLifter& lifter, ScalarType type) {
  const FloatMode mode = take_arithmetic_mode(lifter, type);
  lift_lanes(lifter, mode, 3, [&](const Lanes& sources) -> llvm::Value* {
    if (is_directed_double(mode)) return directed_double(lifter, sources, mode.rounding);
    if (is_directed(mode)) {
      return directed_fma(lifter, sources[0], sources[1], sources[2], mode.rounding);
    }
    if (type != ScalarType::f32 && type != ScalarType::f64) return fma_narrow(lifter, sources);
    return lifter.ir().CreateIntrinsic(llvm::Intrinsic::fma, {sources[0]->getType()},
                                       {sources[0], sources[1], sources[2]});
  });
}

namespace {

// with_common_sign() is what `either` makes of absolute values, negative where one of the two is.
template <class Either>
llvm::Value* with_common_sign(llvm::IRBuilder<>& ir, llvm::Value* a, llvm::Value* b,
                              Either either) {
  llvm::Type* type = a->getType();
  llvm::Type* bits = ir.getIntNTy(type->getScalarSizeInBits());
  llvm::Value* sign =
      ir.CreateBitCast(ir.CreateXor(ir.CreateBitCast(a, bits), ir.CreateBitCast(b, bits)), type);
  const auto absolute = [&](llvm::Value* value) {
    return ir.CreateIntrinsic(llvm::Intrinsic::fabs, {type}, {value});
  };
  return ir.CreateIntrinsic(llvm::Intrinsic::copysign, {type},
                            {either(absolute(a), absolute(b)), sign});
}

}  // namespace

void lift_float_min_max(InstructionLifter& lifter, ScalarType type) {
  const bool keeps_nan = lifter.modifiers.take("NaN");
  const bool is_of_absolutes = lifter.modifiers.take("xorsign") && lifter.modifiers.take("abs");
  const FloatMode mode = take_nearest_mode(lifter, type);
  const auto id =
      lifter.info().opcode == Opcode::min ? llvm::Intrinsic::minimum : llvm::Intrinsic::maximum;
  // minimum and maximum order -0 below +0 as PTX does, and give NaN where an operand is one;
  // without .NaN the other operand wins then.
  const auto either = [&](llvm::Value* a, llvm::Value* b) -> llvm::Value* {
    llvm::Value* result = lifter.ir().CreateIntrinsic(id, {a->getType()}, {a, b});
    if (keeps_nan) return result;
    result = lifter.ir().CreateSelect(is_nan(lifter, b), a, result);
    return lifter.ir().CreateSelect(is_nan(lifter, a), b, result);
  };
  lift_lanes(lifter, mode, 2, [&](const Lanes& sources) {
    return is_of_absolutes ? with_common_sign(lifter.ir(), sources[0], sources[1], either)
                           : either(sources[0], sources[1]);
  });
}

void lift_float_abs(InstructionLifter& lifter, ScalarType type) {
  const FloatMode mode = take_nearest_mode(lifter, type);
  lift_lanes(lifter, mode, 1, [&](const Lanes& sources) {
    return lifter.ir().CreateIntrinsic(llvm::Intrinsic::fabs, {sources[0]->getType()},
                                       {sources[0]});
  });
}

void lift_float_neg(InstructionLifter& lifter, ScalarType type) {
  const FloatMode mode = take_nearest_mode(lifter, type);
  lift_lanes(lifter, mode, 1,
             [&](const Lanes& sources) { return lifter.ir().CreateFNeg(sources[0]); });
}

void lift_copysign(InstructionLifter& lifter) {
  const ScalarType type = lifter.take_type();
  llvm::Value* sign = lifter.read(1, type);
  llvm::Value* magnitude = lifter.read(2, type);
  if (!is_float(type)) lifter.refuse_invalid("it needs a floating point type");
  lifter.write(
      0,
      lifter.ir().CreateIntrinsic(llvm::Intrinsic::copysign, {sign->getType()}, {magnitude, sign}),
      type);
}

void lift_testp(InstructionLifter& lifter) {
  const auto property = lifter.modifiers.take_any(
      {"finite", "infinite", "number", "notanumber", "normal", "subnormal"});
  const ScalarType type = lifter.take_type();
  if (!property || (type != ScalarType::f32 && type != ScalarType::f64)) {
    lifter.refuse_invalid("it needs a property and .f32 or .f64");
  }
  llvm::FPClassTest test = llvm::fcNan;
  if (*property == "finite") test = llvm::fcFinite;
  if (*property == "infinite") test = llvm::fcInf;
  if (*property == "number") test = ~llvm::fcNan;
  if (*property == "normal") test = llvm::fcNormal;
  if (*property == "subnormal") test = llvm::fcSubnormal;
  lifter.write(0, lifter.ir().createIsFPClass(lifter.read(1, type), test), ScalarType::pred);
}

}  // namespace sluice::ptx::lift_detail
