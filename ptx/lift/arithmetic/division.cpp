// Integer division. Where PTX leaves a result to the machine (a zero divisor), LLVM has undefined
// behaviour, so the divisor is replaced and the result selected: what NVIDIA's hardware gives is
// all ones as the quotient and the dividend as the remainder.
#include <llvm/IR/Constants.h>

#include "ptx/lift/families.hpp"

namespace sluice::ptx::lift_detail {

namespace {

struct Division {
  llvm::Value* dividend;
  llvm::Value* divisor;
  llvm::Value* safe_divisor;
  llvm::Value* by_zero;       // null where the divisor is known not to be zero
  llvm::Value* by_minus_one;  // null for unsigned and where it is known not to be -1
};

Division read_division(InstructionLifter& lifter, ScalarType type) {
  llvm::IRBuilder<>& ir = lifter.ir();
  Division division{lifter.read(1, type), lifter.read(2, type), nullptr, nullptr, nullptr};
  division.safe_divisor = division.divisor;
  llvm::Type* value_type = division.divisor->getType();
  const auto* constant = llvm::dyn_cast<llvm::ConstantInt>(division.divisor);
  if (constant == nullptr || constant->isZero()) {
    division.by_zero = ir.CreateICmpEQ(division.divisor, llvm::ConstantInt::get(value_type, 0));
  }
  if (is_signed(type) && (constant == nullptr || constant->isMinusOne())) {
    division.by_minus_one =
        ir.CreateICmpEQ(division.divisor, llvm::Constant::getAllOnesValue(value_type));
  }
  for (llvm::Value* bad : {division.by_zero, division.by_minus_one}) {
    if (bad == nullptr) continue;
    division.safe_divisor =
        ir.CreateSelect(bad, llvm::ConstantInt::get(value_type, 1), division.safe_divisor);
  }
  return division;
}

}  // namespace

void lift_integer_div(InstructionLifter& lifter, ScalarType type) {
  llvm::IRBuilder<>& ir = lifter.ir();
  const Division division = read_division(lifter, type);
  llvm::Value* result = is_signed(type) ? ir.CreateSDiv(division.dividend, division.safe_divisor)
                                        : ir.CreateUDiv(division.dividend, division.safe_divisor);
  if (division.by_minus_one != nullptr) {
    result = ir.CreateSelect(division.by_minus_one, ir.CreateNeg(division.dividend), result);
  }
  if (division.by_zero != nullptr) {
    result = ir.CreateSelect(division.by_zero, llvm::Constant::getAllOnesValue(result->getType()),
                             result);
  }
  lifter.write(0, result, type);
}

void lift_rem(InstructionLifter& lifter) {
  const ScalarType type = lifter.take_type();
  if (!is_integer(type)) lifter.refuse_invalid("it needs an integer type");
  llvm::IRBuilder<>& ir = lifter.ir();
  const Division division = read_division(lifter, type);
  // A divisor of -1 became 1, whose remainder is the same: zero.
  llvm::Value* result = is_signed(type) ? ir.CreateSRem(division.dividend, division.safe_divisor)
                                        : ir.CreateURem(division.dividend, division.safe_divisor);
  if (division.by_zero != nullptr) {
    result = ir.CreateSelect(division.by_zero, division.dividend, result);
  }
  lifter.write(0, result, type);
}

}  // namespace sluice::ptx::lift_detail
