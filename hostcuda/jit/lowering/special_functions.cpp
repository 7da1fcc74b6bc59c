#include "hostcuda/jit/lowering/special_functions.hpp"

#include <iterator>

#include <llvm/IR/Constants.h>
#include <llvm/IR/Intrinsics.h>

namespace sluice::hostcuda::jit {

using namespace llvm;

namespace {

Value* real(IRBuilder<>& ir, float value) {
  return ConstantFP::get(ir.getFloatTy(), value);
}

// 2 to the power of a whole number from -126 to 127.
Value* power_of_two(Value* exponent, IRBuilder<>& ir) {
  Value* bits = ir.CreateShl(ir.CreateAdd(exponent, ir.getInt32(127)), 23);
  return ir.CreateBitCast(bits, ir.getFloatTy());
}

}  // namespace

// The whole part scales, in two steps since it may lie outside of what one float can; of the rest,
// at most a half, a polynomial is taken. Its coefficients were fitted to (2^x - 1) / x there, by
// least squares reweighted towards an even relative error.
Value* exp2_value(Value* x, IRBuilder<>& ir) {
  constexpr float coefficients[] = {0x1.41fbaap-13F, 0x1.5f3e56p-10F, 0x1.3b2d4ep-7F,
                                    0x1.c6aee8p-5F,  0x1.ebfbdcp-3F,  0x1.62e43p-1F};
  // Beyond these all results are zero or infinite. No number is neither and stays what it is.
  Value* low = real(ir, -160);
  Value* high = real(ir, 129);
  Value* bounded = ir.CreateSelect(ir.CreateFCmpOLT(x, low), low, x);
  bounded = ir.CreateSelect(ir.CreateFCmpOGT(bounded, high), high, bounded);
  Value* whole = ir.CreateUnaryIntrinsic(Intrinsic::rint, bounded);
  Value* rest = ir.CreateFSub(bounded, whole);
  Value* power = real(ir, coefficients[0]);
  for (size_t i = 1; i < std::size(coefficients); ++i)
    power = ir.CreateFAdd(ir.CreateFMul(power, rest), real(ir, coefficients[i]));
  power = ir.CreateFAdd(ir.CreateFMul(power, rest), real(ir, 1));
  Value* is_number = ir.CreateFCmpORD(x, x);
  Value* exponent =
      ir.CreateFPToSI(ir.CreateSelect(is_number, whole, real(ir, 0)), ir.getInt32Ty());
  Value* half = ir.CreateAShr(exponent, 1);
  Value* scaled = ir.CreateFMul(power, power_of_two(half, ir));
  return ir.CreateFMul(scaled, power_of_two(ir.CreateSub(exponent, half), ir));
}

}  // namespace sluice::hostcuda::jit
