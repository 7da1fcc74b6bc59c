// Floating point arithmetic. Nothing is contracted: PTX writes fma where
// it wants one.
#include <llvm/ADT/APFloat.h>
#include <llvm/IR/Constants.h>

#include "ptx/lift/directed_rounding.hpp"
#include "ptx/lift/families.hpp"
#include "ptx/lift/float_helpers.hpp"

namespace sluice::ptx::lift_detail {

namespace {

// fma_f16() is exact in double up to the last rounding: a product of halves has 22 bits, and
// where the sum needs more than 53 it lies far from any midpoint of two halves.
llvm::Value* fma_f16(InstructionLifter& lifter, llvm::Value* a, llvm::Value* b, llvm::Value* c) {
  llvm::IRBuilder<>& ir = lifter.ir();
  llvm::Type* wide = a->getType()->getWithNewType(ir.getDoubleTy());
  llvm::Value* product = ir.CreateFMul(ir.CreateFPExt(a, wide), ir.CreateFPExt(b, wide));
  return narrow_to_half(lifter, ir.CreateFAdd(product, ir.CreateFPExt(c, wide)));
}

bool is_directed(const FloatMode& mode) {
  return !mode.rounding.empty();
}

}  // namespace

void lift_float_add_sub(InstructionLifter& lifter, ScalarType type) {
  const FloatMode mode = take_float_mode(lifter, type);
  if (type != ScalarType::f32 && type != ScalarType::f64) refuse_directed(lifter, mode);
  llvm::Value* left = read_float(lifter, 1, mode);
  llvm::Value* right = read_float(lifter, 2, mode);
  const bool adds = lifter.info().opcode == Opcode::add;
  llvm::Value* result = nullptr;
  if (is_directed(mode)) {
    if (!adds) right = lifter.ir().CreateFNeg(right);
    result = directed_add(lifter, left, right, mode.rounding);
  } else {
    result = adds ? lifter.ir().CreateFAdd(left, right) : lifter.ir().CreateFSub(left, right);
  }
  write_float(lifter, 0, result, mode);
}

void lift_float_mul(InstructionLifter& lifter, ScalarType type) {
  const FloatMode mode = take_float_mode(lifter, type);
  if (type != ScalarType::f32) refuse_directed(lifter, mode);
  llvm::Value* left = read_float(lifter, 1, mode);
  llvm::Value* right = read_float(lifter, 2, mode);
  write_float(lifter, 0,
              is_directed(mode) ? directed_mul(lifter, left, right, mode.rounding)
                                : lifter.ir().CreateFMul(left, right),
              mode);
}

void lift_float_div(InstructionLifter& lifter, ScalarType type) {
  // The approximate forms may err by two units in the last place; the exact quotient is within.
  lifter.modifiers.take_any({"approx", "full"});
  const FloatMode mode = take_float_mode(lifter, type);
  if (type != ScalarType::f32) refuse_directed(lifter, mode);
  llvm::Value* left = read_float(lifter, 1, mode);
  llvm::Value* right = read_float(lifter, 2, mode);
  write_float(lifter, 0,
              is_directed(mode) ? directed_div(lifter, left, right, mode.rounding)
                                : lifter.ir().CreateFDiv(left, right),
              mode);
}

void lift_fma(InstructionLifter& lifter) {
  lift_float_fma(lifter, lifter.take_type());
}

void lift_float_fma(InstructionLifter& lifter, ScalarType type) {
  const FloatMode mode = take_float_mode(lifter, type);
  if (type != ScalarType::f32) refuse_directed(lifter, mode);
  llvm::Value* a = read_float(lifter, 1, mode);
  llvm::Value* b = read_float(lifter, 2, mode);
  llvm::Value* c = read_float(lifter, 3, mode);
  llvm::Value* result = nullptr;
  if (is_directed(mode)) {
    result = directed_fma(lifter, a, b, c, mode.rounding);
  } else if (a->getType()->getScalarType()->isHalfTy()) {
    result = fma_f16(lifter, a, b, c);
  } else {
    result = lifter.intrinsic(llvm::Intrinsic::fma, {a->getType()}, {a, b, c});
  }
  write_float(lifter, 0, result, mode);
}

void lift_float_min_max(InstructionLifter& lifter, ScalarType type) {
  const bool keeps_nan = lifter.modifiers.take("NaN");
  const FloatMode mode = take_float_mode(lifter, type);
  refuse_directed(lifter, mode);
  llvm::Value* left = read_float(lifter, 1, mode);
  llvm::Value* right = read_float(lifter, 2, mode);
  // minimum and maximum order -0 below +0 as PTX does, and give NaN where an operand is one;
  // without .NaN the other operand wins then.
  llvm::Value* result = lifter.intrinsic(
      lifter.info().opcode == Opcode::min ? llvm::Intrinsic::minimum : llvm::Intrinsic::maximum,
      {left->getType()}, {left, right});
  if (!keeps_nan) {
    result = lifter.ir().CreateSelect(is_nan(lifter, right), left, result);
    result = lifter.ir().CreateSelect(is_nan(lifter, left), right, result);
  }
  write_float(lifter, 0, result, mode);
}

void lift_float_abs(InstructionLifter& lifter, ScalarType type) {
  const FloatMode mode = take_float_mode(lifter, type);
  refuse_directed(lifter, mode);
  llvm::Value* value = read_float(lifter, 1, mode);
  lifter.write(0, lifter.intrinsic(llvm::Intrinsic::fabs, {value->getType()}, {value}), type);
}

void lift_float_neg(InstructionLifter& lifter, ScalarType type) {
  const FloatMode mode = take_float_mode(lifter, type);
  refuse_directed(lifter, mode);
  lifter.write(0, lifter.ir().CreateFNeg(read_float(lifter, 1, mode)), type);
}

void lift_copysign(InstructionLifter& lifter) {
  const ScalarType type = lifter.take_type();
  llvm::Value* sign = lifter.read(1, type);
  llvm::Value* magnitude = lifter.read(2, type);
  if (!is_float(type)) lifter.refuse_invalid("it needs a floating point type");
  lifter.write(0, lifter.intrinsic(llvm::Intrinsic::copysign, {sign->getType()}, {magnitude, sign}),
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
