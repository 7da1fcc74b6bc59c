#include "hostcuda/jit/lowering/math_intrinsics.hpp"

#include <llvm/IR/IntrinsicsNVPTX.h>

#include "hostcuda/jit/library/directed_double.hpp"
#include "hostcuda/jit/lowering/special_functions.hpp"
#include "ptx/lift/flush.hpp"

namespace sluice::hostcuda::jit {
namespace {

using namespace llvm;

Value* one_over(Value* value, IRBuilder<>& ir) {
  return ir.CreateFDiv(ConstantFP::get(value->getType(), 1.0), value);
}

// The operation itself, without .ftz.
Value* plain_value(Intrinsic::ID id, ArrayRef<Value*> operands, IRBuilder<>& ir) {
  const auto unary = [&](Intrinsic::ID library) {
    return ir.CreateUnaryIntrinsic(library, operands[0]);
  };
  switch (id) {
    case Intrinsic::nvvm_rcp_rn_f:
    case Intrinsic::nvvm_rcp_rn_ftz_f:
    case Intrinsic::nvvm_rcp_rn_d:
    case Intrinsic::nvvm_rcp_approx_ftz_f:
    case Intrinsic::nvvm_rcp_approx_ftz_d:
      return one_over(operands[0], ir);
    case Intrinsic::nvvm_sqrt_rn_f:
    case Intrinsic::nvvm_sqrt_rn_ftz_f:
    case Intrinsic::nvvm_sqrt_rn_d:
    case Intrinsic::nvvm_sqrt_approx_f:
    case Intrinsic::nvvm_sqrt_approx_ftz_f:
      return unary(Intrinsic::sqrt);
    case Intrinsic::nvvm_rsqrt_approx_f:
    case Intrinsic::nvvm_rsqrt_approx_ftz_f:
    case Intrinsic::nvvm_rsqrt_approx_d:
    case Intrinsic::nvvm_rsqrt_approx_ftz_d:
      return one_over(unary(Intrinsic::sqrt), ir);
    case Intrinsic::nvvm_div_rn_f:
    case Intrinsic::nvvm_div_rn_ftz_f:
    case Intrinsic::nvvm_div_rn_d:
    case Intrinsic::nvvm_div_approx_f:
    case Intrinsic::nvvm_div_approx_ftz_f:
      return ir.CreateFDiv(operands[0], operands[1]);
    case Intrinsic::nvvm_fma_rn_f:
    case Intrinsic::nvvm_fma_rn_ftz_f:
    case Intrinsic::nvvm_fma_rn_d:
      return ir.CreateIntrinsic(Intrinsic::fma, {operands[0]->getType()}, operands);
    case Intrinsic::nvvm_add_rn_f:
    case Intrinsic::nvvm_add_rn_ftz_f:
    case Intrinsic::nvvm_add_rn_d:
      return ir.CreateFAdd(operands[0], operands[1]);
    case Intrinsic::nvvm_mul_rn_f:
    case Intrinsic::nvvm_mul_rn_ftz_f:
    case Intrinsic::nvvm_mul_rn_d:
      return ir.CreateFMul(operands[0], operands[1]);
    case Intrinsic::nvvm_ex2_approx_f:
      return exp2_value(operands[0], ir);
    case Intrinsic::nvvm_ex2_approx_d:
      return unary(Intrinsic::exp2);
    case Intrinsic::nvvm_lg2_approx_f:
    case Intrinsic::nvvm_lg2_approx_ftz_f:
      return log2_value(operands[0], ir);
    case Intrinsic::nvvm_lg2_approx_d:
      return unary(Intrinsic::log2);
    case Intrinsic::nvvm_sin_approx_f:
    case Intrinsic::nvvm_sin_approx_ftz_f:
      return sine_value(operands[0], ir);
    case Intrinsic::nvvm_cos_approx_f:
    case Intrinsic::nvvm_cos_approx_ftz_f:
      return cosine_value(operands[0], ir);
    case Intrinsic::nvvm_fabs_f:
    case Intrinsic::nvvm_fabs_ftz_f:
    case Intrinsic::nvvm_fabs_d:
      return unary(Intrinsic::fabs);
    // PTX's min and max return the operand that is a number, as IEEE's minNum and maxNum.
    case Intrinsic::nvvm_fmin_f:
    case Intrinsic::nvvm_fmin_ftz_f:
    case Intrinsic::nvvm_fmin_d:
      return ir.CreateMinNum(operands[0], operands[1]);
    case Intrinsic::nvvm_fmax_f:
    case Intrinsic::nvvm_fmax_ftz_f:
    case Intrinsic::nvvm_fmax_d:
      return ir.CreateMaxNum(operands[0], operands[1]);
    default:
      return call_directed(id, operands, ir);
  }
}

Value* high_product(Value* a, Value* b, bool is_signed, IRBuilder<>& ir) {
  const unsigned width = a->getType()->getIntegerBitWidth();
  Type* wide = ir.getIntNTy(2 * width);
  const auto extend = [&](Value* value) {
    return is_signed ? ir.CreateSExt(value, wide) : ir.CreateZExt(value, wide);
  };
  return ir.CreateTrunc(ir.CreateLShr(ir.CreateMul(extend(a), extend(b)), width), a->getType());
}

// prmt: each byte of the result is one of the eight bytes of {b, a}, chosen by a nibble of the
// selector, whose top bit asks for the byte's sign instead.
Value* permute(Value* a, Value* b, Value* selector, IRBuilder<>& ir) {
  Type* i64 = ir.getInt64Ty();
  Value* bytes = ir.CreateOr(ir.CreateZExt(a, i64), ir.CreateShl(ir.CreateZExt(b, i64), 32));
  Value* result = ir.getInt32(0);
  for (unsigned i = 0; i < 4; ++i) {
    Value* nibble = ir.CreateLShr(selector, uint64_t{4} * i);
    Value* shift = ir.CreateZExt(ir.CreateShl(ir.CreateAnd(nibble, 7), 3), i64);
    Value* byte = ir.CreateTrunc(ir.CreateLShr(bytes, shift), ir.getInt8Ty());
    Value* sign = ir.CreateAShr(byte, 7);
    Value* wants_sign = ir.CreateICmpNE(ir.CreateAnd(nibble, 8), ir.getInt32(0));
    Value* chosen = ir.CreateSelect(wants_sign, sign, byte);
    result =
        ir.CreateOr(result, ir.CreateShl(ir.CreateZExt(chosen, ir.getInt32Ty()), uint64_t{8} * i));
  }
  return result;
}

}  // namespace

Value* math_value(IntrinsicInst& call, IRBuilder<>& ir) {
  const bool flushes = call.getCalledFunction()->getName().contains(".ftz");
  SmallVector<Value*, 4> operands;
  for (Value* operand : call.args()) {
    const bool is_float = operand->getType()->isFloatTy();
    operands.push_back(flushes && is_float ? ptx::flush(operand, ir) : operand);
  }
  switch (call.getIntrinsicID()) {
    case Intrinsic::nvvm_mulhi_i:
    case Intrinsic::nvvm_mulhi_s:
    case Intrinsic::nvvm_mulhi_ll:
      return high_product(operands[0], operands[1], true, ir);
    case Intrinsic::nvvm_mulhi_ui:
    case Intrinsic::nvvm_mulhi_us:
    case Intrinsic::nvvm_mulhi_ull:
      return high_product(operands[0], operands[1], false, ir);
    case Intrinsic::nvvm_prmt:
      return permute(operands[0], operands[1], operands[2], ir);
    case Intrinsic::nvvm_ex2_approx_ftz_f:
      return exp2_value_flushed(call.getArgOperand(0), ir);
    default:
      break;
  }
  Value* value = plain_value(call.getIntrinsicID(), operands, ir);
  return value && flushes && value->getType()->isFloatTy() ? ptx::flush(value, ir) : value;
}

}  // namespace sluice::hostcuda::jit
