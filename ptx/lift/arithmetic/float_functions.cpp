// Reciprocals, roots and the approximate functions. PTX bounds the error of the approximate forms;
// the exact or library result lies within each bound.
#include <llvm/IR/Constants.h>

#include "ptx/lift/arithmetic/directed_rounding.hpp"
#include "ptx/lift/arithmetic/float_helpers.hpp"
#include "ptx/lift/families.hpp"
#include "ptx/lift/flush.hpp"

namespace sluice::ptx::lift_detail {

namespace {

llvm::Value* reciprocal(InstructionLifter& lifter, llvm::Value* value) {
  return lifter.ir().CreateFDiv(llvm::ConstantFP::get(value->getType(), 1.0), value);
}

llvm::Value* square_root(InstructionLifter& lifter, llvm::Value* value) {
  return lifter.ir().CreateIntrinsic(llvm::Intrinsic::sqrt, {value->getType()}, {value});
}

// The .approx.ftz.f64 forms read and write only the upper half of a double: PTX says that the
// lower 32 bits are ignored and come out as zero.
llvm::Value* upper_half(InstructionLifter& lifter, llvm::Value* value) {
  llvm::Value* bits = to_bits(lifter.ir(), value);
  llvm::Value* kept =
      lifter.ir().CreateAnd(bits, llvm::ConstantInt::get(bits->getType(), 0xFFFFFFFF00000000));
  return from_bits(lifter.ir(), kept, value->getType());
}

template <class Function>
void lift_gross_approximation(InstructionLifter& lifter, Function function) {
  llvm::Value* value = flush(upper_half(lifter, lifter.read(1, ScalarType::f64)), lifter.ir());
  lifter.write(0, upper_half(lifter, flush(function(value), lifter.ir())), ScalarType::f64);
}

// tanh x = 1 - 2 / (2^(x * 2 log2 e) + 1), in floats, which loses 2^-22; near zero the first terms
// of its series. That lies within 2^-17 of it, PTX allows 2^-11. Source: PTX ISA, tanh.
llvm::Value* hyperbolic_tangent(InstructionLifter& lifter, llvm::Value* value) {
  llvm::IRBuilder<>& ir = lifter.ir();
  llvm::Type* type = ir.getFloatTy();
  const auto real = [&](double number) { return llvm::ConstantFP::get(type, number); };
  llvm::Value* x = value->getType() == type ? value : ir.CreateFPExt(value, type);
  llvm::Value* exponent = ir.CreateFMul(x, real(2.8853900817779268));
  llvm::Value* power = lifter.ir().CreateIntrinsic(llvm::Intrinsic::exp2, {type}, {exponent});
  llvm::Value* wide = ir.CreateFSub(real(1), ir.CreateFDiv(real(2), ir.CreateFAdd(power, real(1))));
  llvm::Value* square = ir.CreateFMul(x, x);
  llvm::Value* series = ir.CreateFAdd(
      ir.CreateFMul(ir.CreateFAdd(ir.CreateFMul(square, real(2.0 / 15)), real(-1.0 / 3)), square),
      real(1));
  llvm::Value* magnitude = lifter.ir().CreateIntrinsic(llvm::Intrinsic::fabs, {type}, {x});
  llvm::Value* result =
      ir.CreateSelect(ir.CreateFCmpOLT(magnitude, real(0x1p-4)), ir.CreateFMul(x, series), wide);
  return value->getType() == type ? result : ir.CreateFPTrunc(result, value->getType());
}

}  // namespace

void lift_reciprocal(InstructionLifter& lifter) {
  const ScalarType type = lifter.take_type();
  const bool approximate = lifter.modifiers.take("approx");
  if (approximate && type == ScalarType::f64) {
    if (!lifter.modifiers.take("ftz")) lifter.refuse_invalid(".approx.f64 needs .ftz");
    return lift_gross_approximation(lifter,
                                    [&](llvm::Value* value) { return reciprocal(lifter, value); });
  }
  const FloatMode mode = take_arithmetic_mode(lifter, type);
  lift_lanes(lifter, mode, 1, [&](const Lanes& sources) {
    llvm::Constant* one = llvm::ConstantFP::get(sources[0]->getType(), 1.0);
    if (is_directed_double(mode)) return directed_double(lifter, sources, mode.rounding);
    return mode.rounding.empty() ? reciprocal(lifter, sources[0])
                                 : directed_div(lifter, one, sources[0], mode.rounding);
  });
}

void lift_sqrt(InstructionLifter& lifter) {
  const ScalarType type = lifter.take_type();
  lifter.modifiers.take("approx");
  const FloatMode mode = take_arithmetic_mode(lifter, type);
  lift_lanes(lifter, mode, 1, [&](const Lanes& sources) {
    if (is_directed_double(mode)) return directed_double(lifter, sources, mode.rounding);
    return mode.rounding.empty() ? square_root(lifter, sources[0])
                                 : directed_sqrt(lifter, sources[0], mode.rounding);
  });
}

void lift_rsqrt(InstructionLifter& lifter) {
  const ScalarType type = lifter.take_type();
  if (!lifter.modifiers.take("approx")) lifter.refuse_invalid(".approx is missing");
  if (type == ScalarType::f64 && lifter.modifiers.take("ftz")) {
    return lift_gross_approximation(
        lifter, [&](llvm::Value* value) { return reciprocal(lifter, square_root(lifter, value)); });
  }
  const FloatMode mode = take_nearest_mode(lifter, type);
  lift_lanes(lifter, mode, 1, [&](const Lanes& sources) {
    return reciprocal(lifter, square_root(lifter, sources[0]));
  });
}

void lift_float_function(InstructionLifter& lifter) {
  const ScalarType type = lifter.take_type();
  if (!lifter.modifiers.take("approx")) lifter.refuse_invalid(".approx is missing");
  if (type == ScalarType::f64) lifter.refuse_invalid("there is no .f64 form");
  const FloatMode mode = take_nearest_mode(lifter, type);
  llvm::Intrinsic::ID id = llvm::Intrinsic::sin;
  if (lifter.info().opcode == Opcode::cos) id = llvm::Intrinsic::cos;
  if (lifter.info().opcode == Opcode::ex2) id = llvm::Intrinsic::exp2;
  if (lifter.info().opcode == Opcode::lg2) id = llvm::Intrinsic::log2;
  lift_lanes(lifter, mode, 1, [&](const Lanes& sources) {
    llvm::CallInst* call = lifter.ir().CreateIntrinsic(id, {sources[0]->getType()}, {sources[0]});
    if (mode.flush) call->setMetadata(flushed_mark, llvm::MDNode::get(call->getContext(), {}));
    return call;
  });
}

void lift_tanh(InstructionLifter& lifter) {
  const ScalarType type = lifter.take_type();
  if (!lifter.modifiers.take("approx")) lifter.refuse_invalid(".approx is missing");
  const FloatMode mode = take_nearest_mode(lifter, type);
  lift_lanes(lifter, mode, 1,
             [&](const Lanes& sources) { return hyperbolic_tangent(lifter, sources[0]); });
}

}  // namespace sluice::ptx::lift_detail
