#include "ptx/lift/arithmetic/float_helpers.hpp"

#include <llvm/IR/Constants.h>

#include "ptx/lift/flush.hpp"

namespace sluice::ptx::lift_detail {

FloatMode take_float_mode(InstructionLifter& lifter, ScalarType type) {
  FloatMode mode;
  mode.type = type;
  mode.flush = lifter.modifiers.take("ftz");
  mode.saturate = lifter.modifiers.take("sat");
  mode.relu = lifter.modifiers.take("relu");
  lifter.modifiers.take("rn");
  mode.rounding = lifter.modifiers.take_any({"rz", "rm", "rp"}).value_or("");
  if (!is_float(lane_type(type))) {
    lifter.refuse_unsupported("type ." + std::string(name(type)) + " is not supported");
  }
  if (mode.flush && type == ScalarType::f64) lifter.refuse_invalid(".ftz does not go with .f64");
  return mode;
}

FloatMode take_nearest_mode(InstructionLifter& lifter, ScalarType type) {
  const FloatMode mode = take_float_mode(lifter, type);
  if (mode.rounding.empty()) return mode;
  lifter.refuse_unimplemented("rounding mode ." + std::string(mode.rounding) +
                              " is not lifted yet for this operation and type");
}

FloatMode take_arithmetic_mode(InstructionLifter& lifter, ScalarType type) {
  const bool has_directions = type == ScalarType::f32 || type == ScalarType::f64;
  return has_directions ? take_float_mode(lifter, type) : take_nearest_mode(lifter, type);
}

ScalarType lane_type(ScalarType type) {
  if (type == ScalarType::f16x2) return ScalarType::f16;
  if (type == ScalarType::bf16x2) return ScalarType::bf16;
  return type;
}

Lanes split(InstructionLifter& lifter, llvm::Value* value, ScalarType type) {
  llvm::IRBuilder<>& ir = lifter.ir();
  const ScalarType element = lane_type(type);
  Lanes lanes = {value};
  if (element != type) {
    lanes = {ir.CreateTrunc(value, ir.getInt16Ty()),
             ir.CreateTrunc(ir.CreateLShr(value, 16), ir.getInt16Ty())};
  }
  for (llvm::Value*& lane : lanes) {
    if (element == ScalarType::f16) lane = from_bits(lifter.ir(), lane, ir.getHalfTy());
    if (element == ScalarType::bf16) lane = widen_bf16(lifter, lane);
  }
  return lanes;
}

llvm::Value* join(InstructionLifter& lifter, const Lanes& lanes, ScalarType type) {
  llvm::IRBuilder<>& ir = lifter.ir();
  const ScalarType element = lane_type(type);
  Lanes narrowed = lanes;
  if (element == ScalarType::bf16) {
    for (llvm::Value*& lane : narrowed)
      lane = narrow_bf16(lifter, lane, false);
  }
  if (element == type) return narrowed[0];
  llvm::Value* low = ir.CreateZExt(to_bits(lifter.ir(), narrowed[0]), ir.getInt32Ty());
  llvm::Value* high = ir.CreateZExt(to_bits(lifter.ir(), narrowed[1]), ir.getInt32Ty());
  return ir.CreateOr(low, ir.CreateShl(high, 16));
}

Lanes read_lanes(InstructionLifter& lifter, size_t index, const FloatMode& mode) {
  Lanes lanes = split(lifter, lifter.read(index, mode.type), mode.type);
  for (llvm::Value*& lane : lanes) {
    if (mode.flush) lane = flush(lane, lifter.ir());
  }
  return lanes;
}

void write_lanes(InstructionLifter& lifter, size_t index, Lanes values, const FloatMode& mode) {
  for (llvm::Value*& lane : values) {
    if (mode.flush) lane = flush(lane, lifter.ir());
    if (mode.saturate) lane = saturate(lifter, lane);
    if (mode.relu) lane = relu(lifter, lane);
  }
  lifter.write(index, join(lifter, values, mode.type), mode.type);
}

void lift_lanes(InstructionLifter& lifter, const FloatMode& mode, size_t sources,
                const std::function<llvm::Value*(const Lanes&)>& function) {
  std::vector<Lanes> operands;
  for (size_t i = 0; i < sources; ++i)
    operands.push_back(read_lanes(lifter, i + 1, mode));
  Lanes results;
  for (size_t lane = 0; lane < operands[0].size(); ++lane) {
    Lanes arguments;
    for (const Lanes& operand : operands)
      arguments.push_back(operand[lane]);
    results.push_back(function(arguments));
  }
  write_lanes(lifter, 0, std::move(results), mode);
}

llvm::Value* saturate(InstructionLifter& lifter, llvm::Value* value) {
  llvm::IRBuilder<>& ir = lifter.ir();
  llvm::Constant* zero = llvm::ConstantFP::get(value->getType(), 0.0);
  llvm::Constant* one = llvm::ConstantFP::get(value->getType(), 1.0);
  // The comparison is false for NaN, which becomes +0 with all that is not above zero.
  llvm::Value* at_least_zero = ir.CreateSelect(ir.CreateFCmpOGT(value, zero), value, zero);
  return ir.CreateBinaryIntrinsic(llvm::Intrinsic::minnum, at_least_zero, one);
}

llvm::Value* relu(InstructionLifter& lifter, llvm::Value* value) {
  llvm::Constant* zero = llvm::ConstantFP::get(value->getType(), 0.0);
  // NaN stays NaN.
  return lifter.ir().CreateSelect(lifter.ir().CreateFCmpOLE(value, zero), zero, value);
}

llvm::Value* is_nan(InstructionLifter& lifter, llvm::Value* value) {
  return lifter.ir().CreateFCmpUNO(value, value);
}

llvm::Value* widen_bf16(InstructionLifter& lifter, llvm::Value* bits) {
  llvm::IRBuilder<>& ir = lifter.ir();
  return ir.CreateBitCast(ir.CreateShl(ir.CreateZExt(bits, ir.getInt32Ty()), 16), ir.getFloatTy());
}

llvm::Value* narrow_bf16(InstructionLifter& lifter, llvm::Value* value, bool to_zero) {
  llvm::IRBuilder<>& ir = lifter.ir();
  llvm::Value* bits = ir.CreateBitCast(value, ir.getInt32Ty());
  llvm::Value* rounded = bits;
  if (!to_zero) {
    llvm::Value* odd = ir.CreateAnd(ir.CreateLShr(bits, 16), 1);
    rounded = ir.CreateAdd(bits, ir.CreateAdd(odd, ir.getInt32(0x7FFF)));
  }
  llvm::Value* upper = ir.CreateTrunc(ir.CreateLShr(rounded, 16), ir.getInt16Ty());
  return ir.CreateSelect(is_nan(lifter, value), ir.getInt16(0x7FFF), upper);
}

}  // namespace sluice::ptx::lift_detail
