// Opcodes that integers and floats share.
#include "ptx/lift/families.hpp"

namespace sluice::ptx::lift_detail {

namespace {

using Family = void (*)(InstructionLifter&, ScalarType);

void lift_either(InstructionLifter& lifter, Family integers, Family floats) {
  const ScalarType type = lifter.take_type();
  is_integer(type) ? integers(lifter, type) : floats(lifter, type);
}

// lift_packed() lifts add, min and max of two 16-bit integers in one register. False where the
// types are others.
bool lift_packed(InstructionLifter& lifter) {
  const auto type = lifter.modifiers.take_any({"s16x2", "u16x2"});
  if (!type) return false;
  llvm::IRBuilder<>& ir = lifter.ir();
  auto* const pair = llvm::FixedVectorType::get(ir.getInt16Ty(), 2);
  llvm::Value* left = ir.CreateBitCast(lifter.read(1, ScalarType::b32), pair);
  llvm::Value* right = ir.CreateBitCast(lifter.read(2, ScalarType::b32), pair);
  const bool is_signed = *type == "s16x2";
  llvm::Value* result = nullptr;
  if (lifter.info().opcode == Opcode::add) {
    result = ir.CreateAdd(left, right);
  } else {
    const bool minimum = lifter.info().opcode == Opcode::min;
    result = ir.CreateBinaryIntrinsic(
        is_signed ? (minimum ? llvm::Intrinsic::smin : llvm::Intrinsic::smax)
                  : (minimum ? llvm::Intrinsic::umin : llvm::Intrinsic::umax),
        left, right);
  }
  lifter.write(0, ir.CreateBitCast(result, ir.getInt32Ty()), ScalarType::b32);
  return true;
}

}  // namespace

void lift_add_sub(InstructionLifter& lifter) {
  if (lifter.info().opcode == Opcode::add && lift_packed(lifter)) return;
  lift_either(lifter, lift_integer_add_sub, lift_float_add_sub);
}

void lift_mul(InstructionLifter& lifter) {
  lift_either(lifter, lift_integer_mul, lift_float_mul);
}

void lift_mad(InstructionLifter& lifter) {
  lift_either(lifter, lift_integer_mad, lift_float_fma);
}

void lift_div(InstructionLifter& lifter) {
  lift_either(lifter, lift_integer_div, lift_float_div);
}

void lift_min_max(InstructionLifter& lifter) {
  if (lift_packed(lifter)) return;
  lift_either(lifter, lift_integer_min_max, lift_float_min_max);
}

void lift_abs(InstructionLifter& lifter) {
  lift_either(lifter, lift_integer_abs, lift_float_abs);
}

void lift_neg(InstructionLifter& lifter) {
  lift_either(lifter, lift_integer_neg, lift_float_neg);
}

}  // namespace sluice::ptx::lift_detail
