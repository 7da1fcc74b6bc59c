#include "hostcuda/jit/lowering/special_functions.hpp"

#include <cstdint>
#include <limits>

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

Value* fused(Value* a, Value* b, Value* c, IRBuilder<>& ir) {
  return ir.CreateIntrinsic(Intrinsic::fma, {a->getType()}, {a, b, c});
}

// A polynomial of x, from its highest coefficient on.
Value* polynomial(Value* x, ArrayRef<float> coefficients, IRBuilder<>& ir) {
  Value* sum = real(ir, coefficients[0]);
  for (const float coefficient : coefficients.drop_front())
    sum = fused(sum, x, real(ir, coefficient), ir);
  return sum;
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
  return {ir.CreateBitCast(whole, ir.getInt32Ty()), polynomial(rest, coefficients, ir)};
}

// Angle is what is left of a number when quarters of a circle are taken from it, at most an eighth
// of one in magnitude, and how many were taken, of which the lowest two bits count.
struct Angle {
  Value* rest = nullptr;
  Value* quarters = nullptr;
};

// The quarter is a sum of three floats, all positive: -0 stays -0. Numbers so large that there is
// no telling the rest still have one.
Angle angle_of(Value* x, IRBuilder<>& ir) {
  constexpr float quarter[] = {0x1.921fb4p+0F, 0x1.4442dp-24F, 0x1.846988p-48F};
  constexpr float quarters_of_one = 0x1.45f306p-1F;
  constexpr float eighth = 0.79F;  // and what the product above is off by
  Value* whole = fused(x, real(ir, quarters_of_one), real(ir, whole_bias), ir);
  Value* count = ir.CreateFSub(whole, real(ir, whole_bias));
  Value* rest = x;
  for (const float part : quarter)
    rest = fused(count, real(ir, -part), rest, ir);
  return {bounded(rest, -eighth, eighth, ir), ir.CreateBitCast(whole, ir.getInt32Ty())};
}

// The sine of an angle and so many quarters more. The polynomials were fitted like those above, to
// (sin x / x - 1) / x^2 and (cos x - 1) / x^2.
Value* sine_of(const Angle& angle, unsigned more, IRBuilder<>& ir) {
  constexpr float of_sine[] = {-0x1.994b3cp-13F, 0x1.110756p-7F, -0x1.555546p-3F};
  constexpr float of_cosine[] = {-0x1.64719p-10F, 0x1.553f7ep-5F, -0x1.ffffb8p-2F};
  Value* square = ir.CreateFMul(angle.rest, angle.rest);
  Value* one = real(ir, 1);
  Value* sine = ir.CreateFMul(angle.rest, fused(square, polynomial(square, of_sine, ir), one, ir));
  Value* cosine = fused(square, polynomial(square, of_cosine, ir), one, ir);
  Value* quarters = ir.CreateAdd(angle.quarters, ir.getInt32(more));
  Value* is_odd = ir.CreateICmpNE(ir.CreateAnd(quarters, 1), ir.getInt32(0));
  Value* bits = ir.CreateBitCast(ir.CreateSelect(is_odd, cosine, sine), ir.getInt32Ty());
  Value* sign = ir.CreateShl(ir.CreateAnd(quarters, 2), 30);
  return ir.CreateBitCast(ir.CreateXor(bits, sign), ir.getFloatTy());
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

// A number is a power of two times one from the root of a half to that of two, of which a
// polynomial is taken. Its coefficients were fitted to log2(1 + x) / x there.
Value* log2_value(Value* x, IRBuilder<>& ir) {
  constexpr float coefficients[] = {0x1.08baa4p-3F,  -0x1.abe516p-3F, 0x1.b8c168p-3F,
                                    -0x1.e8cedep-3F, 0x1.26d98p-2F,   -0x1.715f9ap-2F,
                                    0x1.ec73bep-2F,  -0x1.71546cp-1F, 0x1.715476p+0F};
  constexpr uint32_t root_of_half_bits = 0x3F3504F3;
  constexpr float to_normal = 24;  // powers of two from the smallest number to a normal one
  Value* is_small = ir.CreateFCmpOLT(x, real(ir, 0x1p-126F));
  Value* normal = ir.CreateSelect(is_small, ir.CreateFMul(x, real(ir, 0x1p24F)), x);
  Value* bits = ir.CreateBitCast(normal, ir.getInt32Ty());
  Value* exponent = ir.CreateAShr(ir.CreateSub(bits, ir.getInt32(root_of_half_bits)), 23);
  Value* part = ir.CreateBitCast(ir.CreateSub(bits, ir.CreateShl(exponent, 23)), ir.getFloatTy());
  Value* rest = ir.CreateFSub(part, real(ir, 1));
  Value* whole = ir.CreateFSub(ir.CreateSIToFP(exponent, ir.getFloatTy()),
                               ir.CreateSelect(is_small, real(ir, to_normal), real(ir, 0)));
  Value* result = fused(rest, polynomial(rest, coefficients, ir), whole, ir);
  constexpr float infinity = std::numeric_limits<float>::infinity();
  result = ir.CreateSelect(ir.CreateFCmpOEQ(x, real(ir, infinity)), x, result);
  result = ir.CreateSelect(ir.CreateFCmpOEQ(x, real(ir, 0)), real(ir, -infinity), result);
  return ir.CreateSelect(ir.CreateFCmpULT(x, real(ir, 0)),
                         real(ir, std::numeric_limits<float>::quiet_NaN()), result);
}

Value* sine_value(Value* x, IRBuilder<>& ir) {
  return sine_of(angle_of(x, ir), 0, ir);
}

Value* cosine_value(Value* x, IRBuilder<>& ir) {
  return sine_of(angle_of(x, ir), 1, ir);
}

}  // namespace sluice::hostcuda::jit
