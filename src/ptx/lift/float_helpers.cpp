#include "ptx/lift/float_helpers.hpp"

#include <llvm/ADT/APFloat.h>
#include <llvm/IR/Constants.h>

namespace sluice::ptx::lift_detail {

FloatMode take_float_mode(InstructionLifter& lifter, ScalarType type) {
  FloatMode mode;
  mode.type = type;
  mode.flush = lifter.modifiers.take("ftz");
  mode.saturate = lifter.modifiers.take("sat");
  lifter.modifiers.take("rn");
  mode.rounding = lifter.modifiers.take_any({"rz", "rm", "rp"}).value_or("");
  if (!is_float(type) && type != ScalarType::f16x2) {
    lifter.refuse_unsupported("type ." + std::string(name(type)) + " is not supported");
  }
  if (type == ScalarType::bf16) {
    lifter.refuse_unimplemented("arithmetic in bf16 is not lifted yet");
  }
  if (mode.flush && type == ScalarType::f64) lifter.refuse_invalid(".ftz does not go with .f64");
  return mode;
}

void refuse_directed(InstructionLifter& lifter, const FloatMode& mode) {
  if (mode.rounding.empty()) return;
  std::string why = "rounding mode .";
  why += mode.rounding;
  lifter.refuse_unimplemented(why + " is not lifted yet for this operation and type");
}

llvm::Value* flush(InstructionLifter& lifter, llvm::Value* value) {
  llvm::Type* type = value->getType();
  const llvm::fltSemantics& semantics = type->getScalarType()->getFltSemantics();
  llvm::Constant* smallest =
      llvm::ConstantFP::get(type, llvm::APFloat::getSmallestNormalized(semantics));
  llvm::Value* magnitude = lifter.intrinsic(llvm::Intrinsic::fabs, {type}, {value});
  llvm::Value* tiny = lifter.ir().CreateFCmpOLT(magnitude, smallest);
  llvm::Value* zero = lifter.intrinsic(llvm::Intrinsic::copysign, {type},
                                       {llvm::ConstantFP::get(type, 0.0), value});
  return lifter.ir().CreateSelect(tiny, zero, value);
}

llvm::Value* saturate(InstructionLifter& lifter, llvm::Value* value) {
  llvm::IRBuilder<>& ir = lifter.ir();
  llvm::Constant* zero = llvm::ConstantFP::get(value->getType(), 0.0);
  llvm::Constant* one = llvm::ConstantFP::get(value->getType(), 1.0);
  // The comparison is false for NaN, which becomes +0 with all that is not above zero.
  llvm::Value* at_most_one = ir.CreateSelect(ir.CreateFCmpOLT(value, one), value, one);
  return ir.CreateSelect(ir.CreateFCmpOGT(value, zero), at_most_one, zero);
}

llvm::Value* is_nan(InstructionLifter& lifter, llvm::Value* value) {
  return lifter.ir().CreateFCmpUNO(value, value);
}

llvm::Value* read_float(InstructionLifter& lifter, size_t index, const FloatMode& mode) {
  llvm::Value* value = lifter.read(index, mode.type);
  return mode.flush ? flush(lifter, value) : value;
}

void write_float(InstructionLifter& lifter, size_t index, llvm::Value* value,
                 const FloatMode& mode) {
  if (mode.flush) value = flush(lifter, value);
  if (mode.saturate) value = saturate(lifter, value);
  lifter.write(index, value, mode.type);
}

}  // namespace sluice::ptx::lift_detail
