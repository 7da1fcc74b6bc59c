// Lifted arithmetic on f16, bf16 and their packed pairs, against values rounded by integers.
#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "ptx/lift/lift_on_host.hpp"

namespace sluice::ptx::test {
namespace {

// Format is a narrow format: its digits (with the hidden one) and its least exponent.
struct Format {
  const char* name;
  int digits;
  int least_exponent;
  int exponent_bits;
};
constexpr Format f16 = {"f16", 11, -14, 5};
constexpr Format bf16 = {"bf16", 8, -126, 8};

double decode(uint32_t value, const Format& format) {
  const int fraction_bits = format.digits - 1;
  const uint32_t fraction = value & ((1U << fraction_bits) - 1);
  const uint32_t exponent = value >> fraction_bits & ((1U << format.exponent_bits) - 1);
  const double sign = (value & 0x8000) != 0 ? -1 : 1;
  if (exponent == 0) return sign * std::ldexp(fraction, format.least_exponent - fraction_bits);
  const uint32_t significand = fraction | 1U << fraction_bits;
  return sign * std::ldexp(significand,
                           static_cast<int>(exponent) - 1 + format.least_exponent - fraction_bits);
}

// encode() rounds an exact value once, to nearest even.
uint32_t encode(long double value, const Format& format) {
  const uint32_t sign = std::signbit(value) ? 0x8000 : 0;
  const long double magnitude = std::fabs(value);
  const int fraction_bits = format.digits - 1;
  int exponent = magnitude == 0 ? format.least_exponent : std::ilogb(magnitude);
  exponent = std::max(exponent, format.least_exponent);
  const long double scaled = std::ldexp(magnitude, fraction_bits - exponent);
  auto whole = static_cast<uint32_t>(std::floor(scaled));
  const long double rest = scaled - whole;
  if (rest > 0.5L || (rest == 0.5L && (whole & 1) != 0)) ++whole;
  uint32_t bits = whole;
  if (whole >= 1U << fraction_bits) {
    bits = whole + (static_cast<uint32_t>(exponent - format.least_exponent) << fraction_bits);
  }
  const uint32_t infinity = ((1U << format.exponent_bits) - 1) << fraction_bits;
  return sign | std::min(bits, infinity);
}

const std::vector<uint32_t>& patterns(const Format& format) {
  static const std::vector<uint32_t> halves = {0x0000, 0x8000, 0x0001, 0x8001, 0x03FF, 0x0400,
                                               0x1000, 0x3555, 0x3C00, 0x3C01, 0xBC01, 0x3E00,
                                               0x4248, 0x5640, 0x63D0, 0x7BFF, 0xFBFF};
  static const std::vector<uint32_t> brains = {0x0000, 0x8000, 0x0001, 0x007F, 0x0080, 0x3EAB,
                                               0x3F80, 0x3F81, 0xBF81, 0x3FC0, 0x4049, 0x2000,
                                               0x5F01, 0xA181, 0x3381, 0x6000};
  return format.digits == 11 ? halves : brains;
}

void expect_fused_and_plain(const Format& format) {
  const std::string name = format.name;
  const Operation fused("fma.rn." + name + " %h9, %h0, %h1, %h2;", "%h9");
  const Operation sum("add." + name + " %h9, %h0, %h1;", "%h9");
  const Operation product("mul." + name + " %h9, %h0, %h1;", "%h9");
  for (uint32_t a : patterns(format)) {
    for (uint32_t b : patterns(format)) {
      const long double x = decode(a, format);
      const long double y = decode(b, format);
      ASSERT_EQ(sum(a, b), encode(x + y, format)) << std::hex << a << " " << b;
      ASSERT_EQ(product(a, b), encode(x * y, format)) << std::hex << a << " " << b;
      for (uint32_t c : patterns(format)) {
        const long double z = decode(c, format);
        const long double exact = x * y + z;
        // Where long double rounds, too, the reference would be wrong.
        if (exact - x * y != z || exact - z != x * y) continue;
        ASSERT_EQ(fused(a, b, c), encode(exact, format)) << std::hex << a << " " << b << " " << c;
      }
    }
  }
}

TEST(LiftNarrowFloat, HalvesRoundOnce) {
  expect_fused_and_plain(f16);
}

TEST(LiftNarrowFloat, BrainFloatsRoundOnce) {
  expect_fused_and_plain(bf16);
}

TEST(LiftNarrowFloat, FusedBrainFloatsSeeTheirSmallestPart) {
  // 1.0078125 * 1.5 = 1.51171875 is a tie between bf16 values; 2^-100 decides it either way.
  const Operation fused("fma.rn.bf16 %h9, %h0, %h1, %h2;", "%h9");
  EXPECT_EQ(fused(0x3F81, 0x3FC0, 0x0000), 0x3FC2U);
  EXPECT_EQ(fused(0x3F81, 0x3FC0, 0x0D80), 0x3FC2U);
  EXPECT_EQ(fused(0x3F81, 0x3FC0, 0x8D80), 0x3FC1U);
}

TEST(LiftNarrowFloat, PairsComputeLaneByLane) {
  const Operation sum("add.f16x2 %r9, %r0, %r1;", "%r9");
  EXPECT_EQ(sum(0x3C004000, 0x3C003C00), 0x40004200U);
  const Operation brains("fma.rn.bf16x2 %r9, %r0, %r1, %r2;", "%r9");
  EXPECT_EQ(brains(0x3F804000, 0x40403F80, 0x3F800000), 0x40804000U);
  const Operation clamped("fma.rn.relu.f16x2 %r9, %r0, %r1, %r2;", "%r9");
  EXPECT_EQ(clamped(0xBC003C00, 0x3C003C00, 0), 0x00003C00U);
  const Operation largest("max.f16x2 %r9, %r0, %r1;", "%r9");
  EXPECT_EQ(largest(0x7E00C000, 0x3C00BC00), 0x3C00BC00U);
  const Operation negated("neg.bf16x2 %r9, %r0;", "%r9");
  EXPECT_EQ(negated(0x3F80C000), 0xBF804000U);
}

TEST(LiftNarrowFloat, PairsCompareLaneByLane) {
  const Operation as_numbers("set.lt.f16x2.f16x2 %r9, %r0, %r1;", "%r9");
  EXPECT_EQ(as_numbers(0x3C004000, 0x40003C00), 0x3C000000U);
  const Operation as_mask("set.eq.u32.bf16x2 %r9, %r0, %r1;", "%r9");
  EXPECT_EQ(as_mask(0x3F804000, 0x3F803F80), 0xFFFF0000U);
  const Operation predicates(
      "setp.gt.f16x2 %p8|%p9, %r0, %r1;\nselp.b32 %r8, 1, 0, %p8;\nselp.b32 %r9, 2, 0, %p9;\n"
      "or.b32 %r9, %r9, %r8;",
      "%r9");
  EXPECT_EQ(predicates(0x40003C00, 0x3C004000), 2U);
  EXPECT_EQ(predicates(0x3C004000, 0x40003C00), 1U);
}

TEST(LiftNarrowFloat, ConversionsPackAndRoundOnce) {
  const Operation pack("cvt.rn.f16x2.f32 %r9, %f0, %f1;", "%r9");
  EXPECT_EQ(pack(bits(1.0F), bits(-2.0F)), 0x3C00C000U);
  const Operation pack_brain("cvt.rz.bf16x2.f32 %r9, %f0, %f1;", "%r9");
  EXPECT_EQ(pack_brain(bits(1.01F), bits(-1.01F)), 0x3F81BF81U);
  const Operation from_double("cvt.rn.bf16.f64 %h9, %fd0;", "%h9");
  EXPECT_EQ(from_double(bits(1.00390625 + 0x1p-40)), 0x3F81U);
  EXPECT_EQ(from_double(bits(1.00390625)), 0x3F80U);
  const Operation half_from_double("cvt.rn.f16.f64 %h9, %fd0;", "%h9");
  EXPECT_EQ(half_from_double(bits(1.00048828125 + 0x1p-40)), 0x3C01U);
  const Operation from_integer("cvt.rn.bf16.s64 %h9, %rd0;", "%h9");
  EXPECT_EQ(from_integer(0x4040000000000000), encode(0x4040000000000000, bf16));
  EXPECT_EQ(from_integer(0x4040000000000001), 0x5E81U);
  EXPECT_EQ(from_integer(0xFFFFFFFFFFFFFFFF), 0xBF80U);
  const Operation to_integer("cvt.rni.s32.bf16 %r9, %h0;", "%r9");
  EXPECT_EQ(to_integer(0xC020), static_cast<uint32_t>(-2));
}

TEST(LiftNarrowFloat, AtomicAdditionByComparingAndSwapping) {
  const HostKernel kernel(
      unit(".visible .entry k(.param .u64 memory)\n{\n.reg .b64 %m;\n.reg .b32 %r<4>;\n"
           ".reg .b16 %h<4>;\nld.param.u64 %m, [memory];\nmov.u32 %r1, 0x3C004000;\n"
           "mov.b16 %h1, 0x3F80;\natom.global.add.noftz.f16x2 %r2, [%m], %r1;\n"
           "red.global.add.noftz.bf16 [%m+8], %h1;\nst.global.u32 [%m+16], %r2;\nret;\n}\n"),
      "k");
  std::vector<uint64_t> memory = {0x3C003C00, 0x4000, 0};
  kernel.run(memory);
  EXPECT_EQ(memory, (std::vector<uint64_t>{0x40004200, 0x4040, 0x3C003C00}));
}

}  // namespace
}  // namespace sluice::ptx::test
