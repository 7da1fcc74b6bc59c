#include "ptx/lift/flush.hpp"

#include <llvm/ADT/APFloat.h>
#include <llvm/IR/Constants.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/IR/PatternMatch.h>

namespace sluice::ptx {

using namespace llvm;

Value* flush(Value* value, IRBuilder<>& ir) {
  Type* type = value->getType();
  Value* bits = ir.CreateBitCast(value, ir.getIntNTy(type->getScalarSizeInBits()));
  const APInt exponent = APFloat::getInf(type->getFltSemantics()).bitcastToAPInt();
  Value* tiny =
      ir.CreateICmpEQ(ir.CreateAnd(bits, exponent), Constant::getNullValue(bits->getType()));
  Value* zero =
      ir.CreateIntrinsic(Intrinsic::copysign, {type}, {ConstantFP::get(type, 0.0), value});
  return ir.CreateSelect(tiny, zero, value);
}

const Value* flushed_from(const Value* value) {
  auto* select = dyn_cast<SelectInst>(value);
  auto* zero = select ? dyn_cast<IntrinsicInst>(select->getTrueValue()) : nullptr;
  const bool is_flush = zero && zero->getIntrinsicID() == Intrinsic::copysign &&
                        match(zero->getArgOperand(0), PatternMatch::m_Zero()) &&
                        zero->getArgOperand(1) == select->getFalseValue();
  return is_flush ? select->getFalseValue() : nullptr;
}

Value* flushed_from(Value* value) {
  return const_cast<Value*>(flushed_from(const_cast<const Value*>(value)));
}

}  // namespace sluice::ptx
