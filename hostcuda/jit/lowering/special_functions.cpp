#include "hostcuda/jit/lowering/special_functions.hpp"

#include <cstdint>
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

Value* bounded(Value* x, float low, float high, IRBuilder<>& ir) {
  x = ir.CreateSelect(ir.CreateFCmpOLT(x, real(ir, low)), real(ir, low), x);
  return ir.CreateSelect(ir.CreateFCmpOGT(x, real(ir, high)), real(ir, high), x);
}

// A float near this one has a whole number in its lowest bits: a sum with it is rounded to one.
constexpr float whole_bias = 0x1.8p23F;
constexpr uint32_t whole_bias_bits = 0x4B400000;

// Parts are a number's whole part, as the bits of a float near whole_bias, and 2 to the power of
// the rest.
struct Parts {
  Value* whole = nullptr;
  Value* power = nullptr;
};

// Of the rest, at most a half, a polynomial is taken. Its coefficients were fitted to
// (2^x - 1) / x there, by least squares reweighted towards an even relative error.
Parts parts_of_power(Value* x, IRBuilder<>& ir) {
  constexpr float coefficients[] = {0x1.41fbaap-13F,
                                    0x1.5f3e56p-10F,
                                    0x1.3b2d4ep-7F,
                                    0x1.c6aee8p-5F,
                                    0x1.ebfbdcp-3F,
                                    0x1.62e43p-1F,
                                    1.0F};
  Value* whole = ir.CreateFAdd(x, real(ir, whole_bias));
  Value* rest = ir.CreateFSub(x, ir.CreateFSub(whole, real(ir, whole_bias)));
  Value* power = real(ir, coefficients[0]);
  for (size_t i = 1; i < std::size(coefficients); ++i)
    power = ir.CreateIntrinsic(Intrinsic::fma, {power->getType()},
                               {power, rest, real(ir, coefficients[i])});
  return {ir.CreateBitCast(whole, ir.getInt32Ty()), power};
}

}  // namespace

// The whole part scales, in two steps since it may lie outside of what one float can. Beyond the
// bounds all results are zero or infinite. No number is neither and stays what it is.
Value* exp2_value(Value* x, IRBuilder<>& ir) {
  const Parts parts = parts_of_power(bounded(x, -160, 129, ir), ir);
  Value* exponent = ir.CreateSub(parts.whole, ir.getInt32(whole_bias_bits));
  Value* half = ir.CreateAShr(exponent, 1);
  Value* scaled = ir.CreateFMul(parts.power, power_of_two(half, ir));
  return ir.CreateFMul(scaled, power_of_two(ir.CreateSub(exponent, half), ir));
}

// The whole part, -126 at least, is added to the power's exponent, which is 0 or -1: at 128, of
// which the rest is 0, the sum is infinity.
Value* exp2_value_flushed(Value* x, IRBuilder<>& ir) {
  const Parts parts = parts_of_power(bounded(x, -126.5F, 128, ir), ir);
  Value* bits = ir.CreateBitCast(parts.power, ir.getInt32Ty());
  Value* scaled = ir.CreateAdd(bits, ir.CreateShl(parts.whole, 23));
  Value* result = ir.CreateSelect(ir.CreateFCmpOLT(x, real(ir, -126)), real(ir, 0),
                                  ir.CreateBitCast(scaled, ir.getFloatTy()));
  return ir.CreateSelect(ir.CreateFCmpUNO(x, x), parts.power, result);
}

}  // namespace sluice::hostcuda::jit
