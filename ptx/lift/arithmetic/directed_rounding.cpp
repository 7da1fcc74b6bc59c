#include "ptx/lift/arithmetic/directed_rounding.hpp"

#include <string>

#include <fmt/format.h>
#include <llvm/IR/Constants.h>

#include "ptx/lift/arithmetic/float_helpers.hpp"

namespace sluice::ptx {

std::string directed_float_name(std::string_view operation, std::string_view rounding) {
  return fmt::format("sluice.{}.{}.f32", operation, rounding);
}

namespace lift_detail {

namespace {

llvm::Value* is_infinite(InstructionLifter& lifter, llvm::Value* value) {
  return lifter.ir().createIsFPClass(value, llvm::fcInf);
}

llvm::Value* is_finite(InstructionLifter& lifter, llvm::Value* value) {
  return lifter.ir().createIsFPClass(value, llvm::fcFinite);
}

llvm::Value* is_negative(InstructionLifter& lifter, llvm::Value* value) {
  llvm::Value* bits = to_bits(lifter.ir(), value);
  return lifter.ir().CreateICmpSLT(bits, llvm::ConstantInt::get(bits->getType(), 0));
}

// An exact zero sum of operands with different signs is -0 when rounding down, +0 else.
llvm::Value* with_zero_sign(InstructionLifter& lifter, llvm::Value* result, llvm::Value* left,
                            llvm::Value* right, std::string_view rounding) {
  if (rounding != "rm") return result;
  llvm::IRBuilder<>& ir = lifter.ir();
  llvm::Constant* zero = llvm::ConstantFP::get(left->getType(), 0.0);
  llvm::Value* cancels = ir.CreateFCmpOEQ(ir.CreateFAdd(left, right), zero);
  llvm::Value* signs_differ = ir.CreateXor(is_negative(lifter, left), is_negative(lifter, right));
  return ir.CreateSelect(ir.CreateAnd(cancels, signs_differ),
                         llvm::ConstantFP::getNegativeZero(result->getType()), result);
}

llvm::Value* widen_float(InstructionLifter& lifter, llvm::Value* value) {
  return lifter.ir().CreateFPExt(value, lifter.ir().getDoubleTy());
}

using Operands = llvm::ArrayRef<llvm::Value*>;

// is_far_below() is whether 0 <= a < 2, 1 <= |b| and 4 |b| <= c: expf() of CUDA has a saturated and
// the others constants, so that nothing is left to ask.
llvm::Value* is_far_below(llvm::IRBuilder<>& ir, Operands terms) {
  const auto number = [&](double value) { return llvm::ConstantFP::get(ir.getFloatTy(), value); };
  llvm::Value* factor = ir.CreateUnaryIntrinsic(llvm::Intrinsic::fabs, terms[1]);
  return ir.CreateAnd({ir.CreateFCmpOGE(terms[0], number(0)), ir.CreateFCmpOLT(terms[0], number(2)),
                       ir.CreateFCmpOGE(factor, number(1)),
                       ir.CreateFCmpOLE(ir.CreateFMul(factor, number(4)), terms[2]),
                       ir.CreateFCmpOLT(terms[2], number(0x1p126))});
}

// fma_far_below() computes in floats what is_far_below() holds for. The nearest result is between
// half of c and twice as much, so that its distance from c is exact; what the product has beyond
// that distance, rounded, has its sign still, since no product here is below 2^-149.
llvm::Value* fma_far_below(llvm::IRBuilder<>& ir, Operands terms, std::string_view rounding) {
  const auto fma = [&](llvm::Value* addend) {
    return ir.CreateIntrinsic(llvm::Intrinsic::fma, {addend->getType()},
                              {terms[0], terms[1], addend});
  };
  llvm::Value* nearest = fma(terms[2]);
  llvm::Value* rest = fma(ir.CreateFSub(terms[2], nearest));
  llvm::Constant* zero = llvm::ConstantFP::get(rest->getType(), 0.0);
  llvm::Value* bits = to_bits(ir, nearest);  // of a number above zero
  const bool rises = rounding == "rp";
  llvm::Value* wrong = rises ? ir.CreateFCmpOGT(rest, zero) : ir.CreateFCmpOLT(rest, zero);
  llvm::Value* step =
      rises ? ir.CreateZExt(wrong, bits->getType()) : ir.CreateSExt(wrong, bits->getType());
  return from_bits(ir, ir.CreateAdd(bits, step), nearest->getType());
}

// call_directed_float() calls the module's function for an operation on floats, which is made at
// the first call: emit() computes the result from its parameters.
llvm::Value* call_directed_float(InstructionLifter& lifter, std::string_view operation,
                                 std::string_view rounding, Operands operands,
                                 llvm::function_ref<llvm::Value*(Operands)> emit) {
  llvm::IRBuilder<>& ir = lifter.ir();
  const std::string name = directed_float_name(operation, rounding);
  llvm::Module& module = *ir.GetInsertBlock()->getModule();
  llvm::Function* function = module.getFunction(name);
  if (function == nullptr) {
    const std::vector<llvm::Type*> types(operands.size(), ir.getFloatTy());
    function = llvm::Function::Create(llvm::FunctionType::get(ir.getFloatTy(), types, false),
                                      llvm::Function::InternalLinkage, name, module);
    const llvm::IRBuilder<>::InsertPointGuard guard(ir);
    ir.SetInsertPoint(llvm::BasicBlock::Create(ir.getContext(), "entry", function));
    std::vector<llvm::Value*> parameters;
    for (llvm::Argument& argument : function->args())
      parameters.push_back(&argument);
    ir.CreateRet(emit(parameters));
  }
  return ir.CreateCall(function, operands);
}

}  // namespace

ExactSum two_sum(InstructionLifter& lifter, llvm::Value* left, llvm::Value* right) {
  llvm::IRBuilder<>& ir = lifter.ir();
  llvm::Value* sum = ir.CreateFAdd(left, right);
  llvm::Value* right_part = ir.CreateFSub(sum, left);
  llvm::Value* left_part = ir.CreateFSub(sum, right_part);
  llvm::Value* error =
      ir.CreateFAdd(ir.CreateFSub(left, left_part), ir.CreateFSub(right, right_part));
  return {sum, error};
}

ExactSum exact_integer(InstructionLifter& lifter, llvm::Value* value, bool with_sign) {
  llvm::IRBuilder<>& ir = lifter.ir();
  llvm::Type* wide = ir.getDoubleTy();
  llvm::Value* high = with_sign ? ir.CreateAShr(value, 32) : ir.CreateLShr(value, 32);
  llvm::Value* low = ir.CreateAnd(value, llvm::ConstantInt::get(value->getType(), 0xFFFFFFFF));
  return two_sum(lifter,
                 ir.CreateFMul(ir.CreateSIToFP(high, wide), llvm::ConstantFP::get(wide, 0x1p32)),
                 ir.CreateUIToFP(low, wide));
}

llvm::Value* step(InstructionLifter& lifter, llvm::Value* nearest, llvm::Value* above,
                  llvm::Value* below, std::string_view rounding) {
  llvm::IRBuilder<>& ir = lifter.ir();
  llvm::Value* bits = to_bits(lifter.ir(), nearest);
  llvm::Type* type = bits->getType();
  llvm::Value* negative = is_negative(lifter, nearest);
  llvm::Constant* one = llvm::ConstantInt::get(type, 1);
  llvm::Value* wrong = rounding == "rm" ? below : above;
  // Towards zero is one less in the bits, away from it one more. Nearest never loses the sign of
  // a result that is not zero, so that a zero steps away from zero on its own side.
  llvm::Value* inward = negative;
  if (rounding == "rm") inward = ir.CreateNot(negative);
  if (rounding == "rz") {
    wrong = ir.CreateSelect(negative, above, below);
    inward = ir.getTrue();
  }
  if (rounding == "odd") {
    llvm::Value* even = ir.CreateICmpEQ(ir.CreateAnd(bits, one), llvm::ConstantInt::get(type, 0));
    wrong = ir.CreateAnd(even, ir.CreateOr(above, below));
    inward = ir.CreateSelect(negative, above, below);
  }
  llvm::Value* stepped = ir.CreateSelect(inward, ir.CreateSub(bits, one), ir.CreateAdd(bits, one));
  return from_bits(lifter.ir(), ir.CreateSelect(wrong, stepped, bits), nearest->getType());
}

llvm::Value* narrow(InstructionLifter& lifter, const ExactSum& exact, llvm::Type* type,
                    std::string_view rounding) {
  llvm::IRBuilder<>& ir = lifter.ir();
  llvm::Constant* zero = llvm::ConstantFP::get(exact.sum->getType(), 0.0);
  const bool narrower = type != exact.sum->getType();
  llvm::Value* nearest = exact.sum;
  if (type->isHalfTy() && exact.sum->getType()->isDoubleTy()) {
    nearest = narrow_to_half(lifter, exact.sum);
  } else if (narrower) {
    nearest = ir.CreateFPTrunc(exact.sum, type);
  }
  llvm::Value* back = narrower ? ir.CreateFPExt(nearest, exact.sum->getType()) : nearest;
  llvm::Value* above = ir.CreateFCmpOGT(exact.sum, back);
  llvm::Value* below = ir.CreateFCmpOLT(exact.sum, back);
  if (exact.error != nullptr) {
    // The error is smaller than any distance between the sum and the narrower value but none.
    llvm::Value* same = ir.CreateFCmpOEQ(exact.sum, back);
    above = ir.CreateOr(above, ir.CreateAnd(same, ir.CreateFCmpOGT(exact.error, zero)));
    below = ir.CreateOr(below, ir.CreateAnd(same, ir.CreateFCmpOLT(exact.error, zero)));
  }
  return step(lifter, nearest, above, below, rounding);
}

llvm::Value* narrow_to_half(InstructionLifter& lifter, llvm::Value* value) {
  llvm::IRBuilder<>& ir = lifter.ir();
  return ir.CreateFPTrunc(narrow(lifter, {value, nullptr}, ir.getFloatTy(), "odd"), ir.getHalfTy());
}

llvm::Value* directed_add(InstructionLifter& lifter, llvm::Value* left, llvm::Value* right,
                          std::string_view rounding) {
  llvm::IRBuilder<>& ir = lifter.ir();
  llvm::Type* type = left->getType();
  if (type->isFloatTy()) {
    return call_directed_float(lifter, "add", rounding, {left, right}, [&](Operands terms) {
      const ExactSum exact =
          two_sum(lifter, widen_float(lifter, terms[0]), widen_float(lifter, terms[1]));
      return with_zero_sign(lifter, narrow(lifter, exact, type, rounding), terms[0], terms[1],
                            rounding);
    });
  }
  const ExactSum exact = two_sum(lifter, left, right);
  llvm::Value* result = narrow(lifter, exact, type, rounding);
  // A sum of finite values that overflowed lies between the largest value and infinity.
  llvm::Value* overflow =
      ir.CreateAnd(is_infinite(lifter, exact.sum),
                   ir.CreateAnd(is_finite(lifter, left), is_finite(lifter, right)));
  llvm::Value* negative = is_negative(lifter, exact.sum);
  llvm::Value* overflowed = step(lifter, exact.sum, negative, ir.CreateNot(negative), rounding);
  result = ir.CreateSelect(overflow, overflowed, result);
  return with_zero_sign(lifter, result, left, right, rounding);
}

llvm::Value* directed_mul(InstructionLifter& lifter, llvm::Value* left, llvm::Value* right,
                          std::string_view rounding) {
  return call_directed_float(lifter, "mul", rounding, {left, right}, [&](Operands factors) {
    // A product of floats is exact in double.
    llvm::Value* product =
        lifter.ir().CreateFMul(widen_float(lifter, factors[0]), widen_float(lifter, factors[1]));
    return narrow(lifter, {product, nullptr}, factors[0]->getType(), rounding);
  });
}

llvm::Value* directed_fma(InstructionLifter& lifter, llvm::Value* a, llvm::Value* b, llvm::Value* c,
                          std::string_view rounding) {
  return call_directed_float(lifter, "fma", rounding, {a, b, c}, [&](Operands terms) {
    llvm::IRBuilder<>& ir = lifter.ir();
    llvm::Value* product =
        ir.CreateFMul(widen_float(lifter, terms[0]), widen_float(lifter, terms[1]));
    llvm::Value* addend = widen_float(lifter, terms[2]);
    llvm::Value* result =
        narrow(lifter, two_sum(lifter, product, addend), terms[0]->getType(), rounding);
    return ir.CreateSelect(is_far_below(ir, terms), fma_far_below(ir, terms, rounding),
                           with_zero_sign(lifter, result, product, addend, rounding));
  });
}

llvm::Value* directed_div(InstructionLifter& lifter, llvm::Value* left, llvm::Value* right,
                          std::string_view rounding) {
  llvm::IRBuilder<>& ir = lifter.ir();
  llvm::Value* nearest = ir.CreateFDiv(left, right);
  llvm::Value* divisor = widen_float(lifter, right);
  // The remainder's sign, seen with the divisor's, says on which side the quotient lies. It is
  // NaN, and nothing steps, where an operand is infinite or the divisor zero.
  llvm::Value* remainder = ir.CreateFSub(widen_float(lifter, left),
                                         ir.CreateFMul(widen_float(lifter, nearest), divisor));
  llvm::Constant* zero = llvm::ConstantFP::get(divisor->getType(), 0.0);
  llvm::Value* positive = ir.CreateFCmpOGT(remainder, zero);
  llvm::Value* negative = ir.CreateFCmpOLT(remainder, zero);
  llvm::Value* flipped = is_negative(lifter, right);
  return step(lifter, nearest, ir.CreateSelect(flipped, negative, positive),
              ir.CreateSelect(flipped, positive, negative), rounding);
}

llvm::Value* directed_sqrt(InstructionLifter& lifter, llvm::Value* value,
                           std::string_view rounding) {
  llvm::IRBuilder<>& ir = lifter.ir();
  llvm::Value* nearest =
      lifter.ir().CreateIntrinsic(llvm::Intrinsic::sqrt, {value->getType()}, {value});
  llvm::Value* root = widen_float(lifter, nearest);
  llvm::Value* square = ir.CreateFMul(root, root);
  llvm::Value* exact = widen_float(lifter, value);
  return step(lifter, nearest, ir.CreateFCmpOGT(exact, square), ir.CreateFCmpOLT(exact, square),
              rounding);
}

llvm::Value* directed_double(InstructionLifter& lifter, const std::vector<llvm::Value*>& operands,
                             std::string_view rounding) {
  using namespace llvm::Intrinsic;
  struct Row {
    Opcode opcode;
    llvm::Intrinsic::ID rz, rm, rp;
  };
  static constexpr Row rows[] = {
      {Opcode::mul, nvvm_mul_rz_d, nvvm_mul_rm_d, nvvm_mul_rp_d},
      {Opcode::div, nvvm_div_rz_d, nvvm_div_rm_d, nvvm_div_rp_d},
      {Opcode::fma, nvvm_fma_rz_d, nvvm_fma_rm_d, nvvm_fma_rp_d},
      {Opcode::mad, nvvm_fma_rz_d, nvvm_fma_rm_d, nvvm_fma_rp_d},
      {Opcode::sqrt, nvvm_sqrt_rz_d, nvvm_sqrt_rm_d, nvvm_sqrt_rp_d},
      {Opcode::rcp, nvvm_rcp_rz_d, nvvm_rcp_rm_d, nvvm_rcp_rp_d},
  };
  for (const Row& row : rows) {
    if (row.opcode != lifter.info().opcode) continue;
    const llvm::Intrinsic::ID id = rounding == "rz" ? row.rz : rounding == "rm" ? row.rm : row.rp;
    return lifter.ir().CreateIntrinsic(id, {}, operands);
  }
  lifter.refuse_invalid("the operation has no rounding mode");
}

}  // namespace lift_detail
}  // namespace sluice::ptx
