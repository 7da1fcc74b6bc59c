// What lifted floating point instructions compute: NaN, signed zeros, subnormals, saturation.
#include <cmath>
#include <cstdint>
#include <functional>
#include <limits>
#include <string>

#include <gtest/gtest.h>

#include "ptx/lift/lift_on_host.hpp"

namespace sluice::ptx::test {
namespace {

constexpr float infinity = std::numeric_limits<float>::infinity();
constexpr float not_a_number = std::numeric_limits<float>::quiet_NaN();
constexpr float smallest_normal = std::numeric_limits<float>::min();

// same() compares bits, except that every NaN is the same.
::testing::AssertionResult same(float got, float expected) {
  if (std::isnan(got) && std::isnan(expected)) return ::testing::AssertionSuccess();
  if (bits(got) == bits(expected)) return ::testing::AssertionSuccess();
  return ::testing::AssertionFailure() << got << " instead of " << expected;
}

float flushed(float value) {
  return std::fabs(value) < smallest_normal ? std::copysign(0.0F, value) : value;
}

using Binary = std::function<float(float, float)>;

void expect_binary(const std::string& opcode, const Binary& reference) {
  const Operation operation(opcode + " %f9, %f0, %f1;", "%f9");
  for (float a : float_edges()) {
    for (float b : float_edges()) {
      ASSERT_TRUE(same(as_float(operation(bits(a), bits(b))), reference(a, b)))
          << opcode << " " << a << ", " << b;
    }
  }
}

TEST(LiftFloat, ArithmeticRoundsToNearest) {
  expect_binary("add.f32", [](float a, float b) { return a + b; });
  expect_binary("sub.rn.f32", [](float a, float b) { return a - b; });
  expect_binary("mul.f32", [](float a, float b) { return a * b; });
  expect_binary("div.rn.f32", [](float a, float b) { return a / b; });
}

TEST(LiftFloat, MultiplyAndAddAreNotContracted) {
  const Operation separate("mul.f32 %f8, %f0, %f1;\nadd.f32 %f9, %f8, %f2;", "%f9");
  const Operation fused("fma.rn.f32 %f9, %f0, %f1, %f2;", "%f9");
  const Operation mad("mad.rn.f32 %f9, %f0, %f1, %f2;", "%f9");
  // (1 + e)^2 - (1 + 2e) is e^2 when fused and 0 when the product is rounded first.
  const float e = 0x1p-12F;
  const uint64_t factor = bits(1.0F + e);
  const uint64_t rest = bits(-(1.0F + 2 * e));
  EXPECT_EQ(as_float(separate(factor, factor, rest)), 0.0F);
  EXPECT_EQ(as_float(fused(factor, factor, rest)), e * e);
  EXPECT_EQ(as_float(mad(factor, factor, rest)), e * e);
}

TEST(LiftFloat, FlushesSubnormalsToZerosOfTheirSign) {
  expect_binary("add.ftz.f32", [](float a, float b) { return flushed(flushed(a) + flushed(b)); });
  expect_binary("mul.ftz.f32", [](float a, float b) { return flushed(flushed(a) * flushed(b)); });
  const Operation product("mul.ftz.f32 %f9, %f0, %f1;", "%f9");
  EXPECT_EQ(product(bits(-smallest_normal), bits(0.5F)), bits(-0.0F));
  const Operation kept("mul.f32 %f9, %f0, %f1;", "%f9");
  EXPECT_EQ(as_float(kept(bits(-smallest_normal), bits(0.5F))), -smallest_normal / 2);
}

TEST(LiftFloat, SaturatesToTheUnitInterval) {
  expect_binary("add.sat.f32", [](float a, float b) {
    const float sum = a + b;
    if (!(sum > 0)) return 0.0F;
    return sum < 1 ? sum : 1.0F;
  });
}

TEST(LiftFloat, MinimumAndMaximumPreferNumbersAndOrderZeros) {
  auto minimum = [](float a, float b) {
    if (std::isnan(a)) return b;
    if (std::isnan(b)) return a;
    if (a == 0 && b == 0) return std::signbit(a) ? a : b;
    return a < b ? a : b;
  };
  expect_binary("min.f32", minimum);
  expect_binary("max.f32", [&](float a, float b) {
    if (std::isnan(a)) return b;
    if (std::isnan(b)) return a;
    return -minimum(-a, -b);
  });
  expect_binary("max.NaN.f32", [&](float a, float b) {
    if (std::isnan(a) || std::isnan(b)) return not_a_number;
    return -minimum(-a, -b);
  });
}

TEST(LiftFloat, ComparesWithAndWithoutOrder) {
  const struct {
    const char* name;
    std::function<bool(float, float)> reference;
  } comparisons[] = {
      {"eq", [](float a, float b) { return a == b; }},
      {"ne", [](float a, float b) { return a < b || a > b; }},
      {"lt", [](float a, float b) { return a < b; }},
      {"le", [](float a, float b) { return a <= b; }},
      {"gt", [](float a, float b) { return a > b; }},
      {"ge", [](float a, float b) { return a >= b; }},
      {"equ", [](float a, float b) { return !(a < b || a > b); }},
      {"neu", [](float a, float b) { return a != b; }},
      {"ltu", [](float a, float b) { return !(a >= b); }},
      {"leu", [](float a, float b) { return !(a > b); }},
      {"gtu", [](float a, float b) { return !(a <= b); }},
      {"geu", [](float a, float b) { return !(a < b); }},
      {"num", [](float a, float b) { return !std::isnan(a) && !std::isnan(b); }},
      {"nan", [](float a, float b) { return std::isnan(a) || std::isnan(b); }},
  };
  for (const auto& comparison : comparisons) {
    const Operation operation(std::string("setp.") + comparison.name + ".f32 %p9, %f0, %f1;",
                              "%p9");
    for (float a : float_edges()) {
      for (float b : float_edges()) {
        ASSERT_EQ(operation(bits(a), bits(b)) != 0, comparison.reference(a, b))
            << comparison.name << " " << a << ", " << b;
      }
    }
  }
}

TEST(LiftFloat, ComparisonFlushesWhereAsked) {
  const Operation plain("setp.gt.f32 %p9, %f0, 0f00000000;", "%p9");
  const Operation flushing("setp.gt.ftz.f32 %p9, %f0, 0f00000000;", "%p9");
  EXPECT_EQ(plain(bits(1e-40F)), 1U);
  EXPECT_EQ(flushing(bits(1e-40F)), 0U);
}

TEST(LiftFloat, FunctionsStayWithinTheirBounds) {
  const Operation reciprocal("rcp.rn.f32 %f9, %f0;", "%f9");
  const Operation root("sqrt.rn.f32 %f9, %f0;", "%f9");
  const Operation inverse_root("rsqrt.approx.f32 %f9, %f0;", "%f9");
  const Operation power("ex2.approx.f32 %f9, %f0;", "%f9");
  const Operation logarithm("lg2.approx.f32 %f9, %f0;", "%f9");
  const Operation sine("sin.approx.f32 %f9, %f0;", "%f9");
  const Operation cosine("cos.approx.f32 %f9, %f0;", "%f9");
  const Operation tangent("tanh.approx.f32 %f9, %f0;", "%f9");
  for (float a : float_edges()) {
    ASSERT_TRUE(same(as_float(reciprocal(bits(a))), 1.0F / a)) << a;
    ASSERT_TRUE(same(as_float(root(bits(a))), std::sqrt(a))) << a;
  }
  for (float a : {1e-6F, 0.01F, 0.3F, 1.0F, 2.7F, 3.1F}) {
    ASSERT_NEAR(as_float(inverse_root(bits(a))) * std::sqrt(a), 1.0, 0x1p-22);
    ASSERT_NEAR(as_float(power(bits(a))) / std::exp2(a), 1.0, 0x1p-22);
    ASSERT_NEAR(as_float(logarithm(bits(a))), std::log2(a), 0x1p-20);
    ASSERT_NEAR(as_float(sine(bits(a))), std::sin(a), 0x1p-20);
    ASSERT_NEAR(as_float(cosine(bits(a))), std::cos(a), 0x1p-20);
    ASSERT_NEAR(as_float(tangent(bits(-a))) / std::tanh(-a), 1.0, 0x1p-11);
  }
  EXPECT_EQ(as_float(tangent(bits(infinity))), 1.0F);
  EXPECT_EQ(as_float(tangent(bits(-infinity))), -1.0F);
  EXPECT_TRUE(std::isnan(as_float(tangent(bits(not_a_number)))));
}

TEST(LiftFloat, GrossReciprocalKeepsTheUpperHalf) {
  const Operation gross("rcp.approx.ftz.f64 %fd9, %fd0;", "%fd9");
  const uint64_t result = gross(bits(3.0));
  EXPECT_EQ(result & 0xFFFFFFFF, 0U);
  EXPECT_NEAR(as_double(result), 1.0 / 3.0, 1e-5);
}

TEST(LiftFloat, SignsSelectionsAndClasses) {
  const Operation negate("neg.f32 %f9, %f0;", "%f9");
  const Operation magnitude("abs.f32 %f9, %f0;", "%f9");
  const Operation sign("copysign.f32 %f9, %f0, %f1;", "%f9");
  const Operation select("slct.f32.f32 %f9, %f0, %f1, %f2;", "%f9");
  const Operation select_integer("slct.b32.s32 %r9, %r0, %r1, %r2;", "%r9");
  const Operation subnormal("testp.subnormal.f32 %p9, %f0;", "%p9");
  const Operation number("testp.number.f32 %p9, %f0;", "%p9");
  for (float a : float_edges()) {
    ASSERT_EQ(negate(bits(a)), bits(a) ^ 0x80000000U);
    ASSERT_EQ(magnitude(bits(a)), bits(a) & 0x7FFFFFFFU);
    ASSERT_EQ(sign(bits(a), bits(2.0F)), bits(std::copysign(2.0F, a)));
    ASSERT_EQ(select(1, 2, bits(a)), a >= 0 ? 1U : 2U) << a;
    ASSERT_EQ(subnormal(bits(a)) != 0, std::fpclassify(a) == FP_SUBNORMAL);
    ASSERT_EQ(number(bits(a)) != 0, !std::isnan(a));
  }
  EXPECT_EQ(select_integer(1, 2, 0), 1U);
  EXPECT_EQ(select_integer(1, 2, 0x80000000), 2U);
}

TEST(LiftFloat, DoublesCompute) {
  const Operation fused("fma.rn.f64 %fd9, %fd0, %fd1, %fd2;", "%fd9");
  const Operation quotient("div.rn.f64 %fd9, %fd0, %fd1;", "%fd9");
  for (double a : double_edges()) {
    for (double b : double_edges()) {
      const double sum = as_double(fused(bits(a), bits(b), bits(1.0)));
      const double expected = std::fma(a, b, 1.0);
      ASSERT_TRUE(bits(sum) == bits(expected) || (std::isnan(sum) && std::isnan(expected)));
      const double ratio = as_double(quotient(bits(a), bits(b)));
      ASSERT_TRUE(bits(ratio) == bits(a / b) || (std::isnan(ratio) && std::isnan(a / b)));
    }
  }
}

TEST(LiftFloat, HalvesRoundOnce) {
  const Operation fused("fma.rn.f16 %h9, %h0, %h1, %h2;", "%h9");
  const uint64_t one = 0x3C00;
  const uint64_t above_one = 0x3C01;  // 1 + 2^-10
  // (1 + 2^-10)^2 = 1 + 2^-9 + 2^-20 rounds down to 1 + 2^-9.
  EXPECT_EQ(fused(above_one, above_one, 0), 0x3C02U);
  // 1 + 2^-11 exactly is a tie, which goes to the even 1.
  EXPECT_EQ(fused(0x1000, one, one), 0x3C00U);
  // 2^-21 more than that goes up.
  EXPECT_EQ(fused(0x1000, above_one, one), 0x3C01U);
  // (1 + 2^-10) * 1.5 is a tie; 2^-24 less goes down, though as a float it would be the tie.
  EXPECT_EQ(fused(above_one, 0x3E00, 0), 0x3E02U);
  EXPECT_EQ(fused(above_one, 0x3E00, 0x8001), 0x3E01U);
  const Operation sum("add.f16 %h9, %h0, %h1;", "%h9");
  EXPECT_EQ(sum(one, one), 0x4000U);
}

}  // namespace
}  // namespace sluice::ptx::test
