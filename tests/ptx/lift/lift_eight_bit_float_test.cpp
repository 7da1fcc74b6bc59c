// Conversions between pairs of 8-bit floats and f32 or f16x2, against the nearest of all 256; and
// cvt.pack.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <string>

#include <gtest/gtest.h>

#include "ptx/lift/lift_on_host.hpp"

namespace sluice::ptx::test {
namespace {

struct Format {
  const char* name;
  int fraction_bits;
  int bias;
  uint32_t greatest;
  bool has_infinity;
};
constexpr Format formats[] = {{"e4m3x2", 3, 7, 0x7E, false}, {"e5m2x2", 2, 15, 0x7B, true}};

double decode(uint32_t bits, const Format& format) {
  const uint32_t size = bits & 0x7F;
  const double sign = (bits & 0x80) != 0 ? -1 : 1;
  if (size > format.greatest) {
    const bool is_infinite = format.has_infinity && size == format.greatest + 1;
    return is_infinite ? sign * std::numeric_limits<double>::infinity()
                       : std::numeric_limits<double>::quiet_NaN();
  }
  const auto exponent = static_cast<int>(size >> format.fraction_bits);
  const int fraction = static_cast<int>(size & ((1U << format.fraction_bits) - 1));
  const int hidden = exponent == 0 ? 0 : 1 << format.fraction_bits;
  return sign *
         std::ldexp(hidden + fraction, std::max(exponent, 1) - format.bias - format.fraction_bits);
}

// encode() looks for the nearest of all finite numbers; of two, the even one.
uint32_t encode(double value, const Format& format, bool relu) {
  if (std::isnan(value)) return 0x7F;
  if (relu && value <= 0) return 0;
  const double size = std::fabs(value);
  uint32_t nearest = 0;
  for (uint32_t candidate = 1; candidate <= format.greatest; ++candidate) {
    const double here = std::fabs(decode(candidate, format) - size);
    const double there = std::fabs(decode(nearest, format) - size);
    if (here < there || (here == there && candidate % 2 == 0)) nearest = candidate;
  }
  if (std::isinf(size)) nearest = format.greatest;
  return nearest | (std::signbit(value) ? 0x80 : 0);
}

double half(uint32_t bits) {
  const uint32_t fraction = bits & 0x3FF;
  const int exponent = static_cast<int>(bits >> 10 & 0x1F);
  const double sign = (bits & 0x8000) != 0 ? -1 : 1;
  if (exponent == 31) {
    return fraction != 0 ? std::numeric_limits<double>::quiet_NaN()
                         : sign * std::numeric_limits<double>::infinity();
  }
  return sign * std::ldexp(exponent == 0 ? fraction : fraction | 0x400, std::max(exponent, 1) - 25);
}

uint32_t bits_of(float value) {
  return std::bit_cast<uint32_t>(value);
}

TEST(LiftEightBitFloat, HalvesBecomeTheNearestOnes) {
  for (const Format& format : formats) {
    for (const bool relu : {false, true}) {
      const Operation convert(std::string("cvt.rn.satfinite") + (relu ? ".relu." : ".") +
                                  format.name + ".f16x2 %h9, %r0;",
                              "%h9");
      for (uint32_t low = 0; low < 0x10000; ++low) {
        const uint32_t high = (low * 0x9E37U + 11) & 0xFFFF;
        const uint32_t expected = encode(half(low), format, relu) | encode(half(high), format, relu)
                                                                        << 8;
        ASSERT_EQ(convert(low | high << 16), expected) << format.name << " " << low;
      }
    }
  }
}

TEST(LiftEightBitFloat, FloatsBecomeTheNearestOnes) {
  for (const Format& format : formats) {
    const Operation convert(std::string("cvt.rn.satfinite.") + format.name + ".f32 %h9, %f0, %f1;",
                            "%h9");
    // Each number of the format, the middle to the next one, and what lies around both.
    for (uint32_t number = 0; number <= format.greatest; ++number) {
      const auto here = static_cast<float>(decode(number, format));
      const auto next =
          static_cast<float>(number == format.greatest ? 1.1 * here : decode(number + 1, format));
      for (const float value : {here, (here + next) / 2}) {
        const float less = std::nextafter(value, -1.0F);
        const float more = std::nextafter(value, 1e30F);
        for (const float given : {less, value, more}) {
          const uint32_t expected =
              encode(given, format, false) << 8 | encode(-given, format, false);
          ASSERT_EQ(convert(bits_of(given), bits_of(-given)), expected) << format.name << given;
        }
      }
    }
    const float infinity = std::numeric_limits<float>::infinity();
    EXPECT_EQ(convert(bits_of(-infinity), 0x7FC00000), (format.greatest | 0x80) << 8 | 0x7F);
    EXPECT_EQ(convert(bits_of(1e-40F), 0xFFC00000), 0x007FU);
  }
}

TEST(LiftEightBitFloat, EachIsAHalf) {
  for (const Format& format : formats) {
    const std::string types = std::string(".f16x2.") + format.name + " %r9, %h0;";
    const Operation convert("cvt.rn" + types, "%r9");
    const Operation clamped("cvt.rn.relu" + types, "%r9");
    for (uint32_t number = 0; number < 0x100; ++number) {
      const double expected = decode(number, format);
      for (const uint64_t both : {convert(number | 0x3800), convert(number << 8 | 0x38) >> 16}) {
        const double actual = half(both & 0xFFFF);
        if (std::isnan(expected)) {
          EXPECT_TRUE(std::isnan(actual)) << format.name << " " << number;
        } else {
          EXPECT_EQ(actual, expected) << format.name << " " << number;
          EXPECT_EQ(std::signbit(actual), std::signbit(expected)) << format.name << " " << number;
          EXPECT_EQ(half(clamped(number) & 0xFFFF), std::max(expected, 0.0)) << number;
        }
      }
    }
  }
}

TEST(LiftConversionPack, ClampsAndPacks) {
  const Operation u16("cvt.pack.sat.u16.s32 %r9, %r0, %r1;", "%r9");
  EXPECT_EQ(u16(5, 7), 0x00050007U);
  EXPECT_EQ(u16(0xFFFFFFFF, 70000), 0x0000FFFFU);
  const Operation s16("cvt.pack.sat.s16.s32 %r9, %r0, %r1;", "%r9");
  EXPECT_EQ(s16(0x80000000, 0x7FFFFFFF), 0x80007FFFU);
  EXPECT_EQ(s16(0xFFFFFFFF, 1), 0xFFFF0001U);
  const Operation u8("cvt.pack.sat.u8.s32.b32 %r9, %r0, %r1, %r2;", "%r9");
  EXPECT_EQ(u8(300, 0xFFFFFFF0, 0x12345678), 0x5678FF00U);
  const Operation s8("cvt.pack.sat.s8.s32.b32 %r9, %r0, %r1, 0;", "%r9");
  EXPECT_EQ(s8(0xFFFFFF00, 127), 0x0000807FU);
  const Operation s4("cvt.pack.sat.s4.s32.b32 %r9, %r0, %r1, %r2;", "%r9");
  EXPECT_EQ(s4(100, 0xFFFFFF9C, 0xABCDEF), 0xABCDEF78U);
  const Operation u4("cvt.pack.sat.u4.s32.b32 %r9, %r0, %r1, %r2;", "%r9");
  EXPECT_EQ(u4(100, 3, 1), 0x1F3U);
  const Operation u2("cvt.pack.sat.u2.s32.b32 %r9, %r0, %r1, %r2;", "%r9");
  EXPECT_EQ(u2(9, 2, 1), 0x1EU);
  const Operation s2("cvt.pack.sat.s2.s32.b32 %r9, %r0, %r1, %r2;", "%r9");
  EXPECT_EQ(s2(9, 0xFFFFFFF7, 1), 0x16U);
}

}  // namespace
}  // namespace sluice::ptx::test
