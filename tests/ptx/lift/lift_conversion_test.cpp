// What lifted conversions give: every pair of kinds, out of range, NaN, each rounding.
#include <cfenv>
#include <cmath>
#include <cstdint>
#include <limits>
#include <string>

#include <gtest/gtest.h>

#include "ptx/lift/lift_on_host.hpp"

namespace sluice::ptx::test {
namespace {

double rounded(double value, const std::string& rounding) {
  if (rounding == "rzi") return std::trunc(value);
  if (rounding == "rmi") return std::floor(value);
  if (rounding == "rpi") return std::ceil(value);
  return std::nearbyint(value);  // the tests run in the default mode, to nearest even
}

// to_integer() is the ISA's rule: rounded, clamped to the range, and NaN by the widths.
template <class Integer>
Integer to_integer(double value, const std::string& rounding, bool from_double) {
  using Limits = std::numeric_limits<Integer>;
  if (std::isnan(value)) {
    if (!from_double && sizeof(Integer) != 8) return 0;
    return static_cast<Integer>(uint64_t{1} << (sizeof(Integer) * 8 - 1));
  }
  const double integral = rounded(value, rounding);
  if (integral <= static_cast<double>(Limits::min())) return Limits::min();
  if (integral >= static_cast<double>(Limits::max())) return Limits::max();
  return static_cast<Integer>(integral);
}

template <class Integer>
void expect_from_floats(const std::string& type, const std::string& result) {
  for (const char* rounding : {"rzi", "rni", "rmi", "rpi"}) {
    const Operation narrow(
        "cvt." + std::string(rounding) + "." + type + ".f32 " + result + ", %f0;", result);
    for (float value : float_edges()) {
      ASSERT_EQ(static_cast<Integer>(narrow(bits(value))),
                to_integer<Integer>(value, rounding, false))
          << type << " " << rounding << " " << value;
    }
    const Operation wide("cvt." + std::string(rounding) + "." + type + ".f64 " + result + ", %fd0;",
                         result);
    for (double value : double_edges()) {
      ASSERT_EQ(static_cast<Integer>(wide(bits(value))), to_integer<Integer>(value, rounding, true))
          << type << " " << rounding << " " << value;
    }
  }
}

TEST(LiftConversion, FloatsToIntegersClamp) {
  expect_from_floats<int32_t>("s32", "%r9");
  expect_from_floats<uint32_t>("u32", "%r9");
  expect_from_floats<int64_t>("s64", "%rd9");
  expect_from_floats<uint64_t>("u64", "%rd9");
  expect_from_floats<int16_t>("s16", "%h9");
  expect_from_floats<uint16_t>("u16", "%h9");
}

TEST(LiftConversion, NarrowFloatResultsExtendIntoTheirRegister) {
  const Operation with_sign("cvt.rzi.s8.f32 %r9, %f0;", "%r9");
  const Operation without("cvt.rzi.u8.f32 %r9, %f0;", "%r9");
  EXPECT_EQ(with_sign(bits(-3.5F)), 0xFFFFFFFDU);
  EXPECT_EQ(with_sign(bits(1000.0F)), 127U);
  EXPECT_EQ(without(bits(-3.5F)), 0U);
  EXPECT_EQ(without(bits(1000.0F)), 255U);
}

TEST(LiftConversion, IntegersExtendAndTruncate) {
  const Operation s64_s32("cvt.s64.s32 %rd9, %r0;", "%rd9");
  const Operation u64_u32("cvt.u64.u32 %rd9, %r0;", "%rd9");
  const Operation u32_u64("cvt.u32.u64 %r9, %rd0;", "%r9");
  const Operation s32_s8("cvt.s32.s8 %r9, %r0;", "%r9");
  const Operation s16_s8("cvt.s16.s8 %h9, %h0;", "%h9");
  const Operation u32_u16("cvt.u32.u16 %r9, %h0;", "%r9");
  const Operation s8_s32("cvt.s8.s32 %r9, %r0;", "%r9");
  const Operation u8_u32("cvt.u8.u32 %h9, %r0;", "%h9");
  for (uint64_t a : integer_edges()) {
    ASSERT_EQ(s64_s32(a), static_cast<uint64_t>(int64_t{static_cast<int32_t>(a)}));
    ASSERT_EQ(u64_u32(a), a & 0xFFFFFFFF);
    ASSERT_EQ(u32_u64(a), a & 0xFFFFFFFF);
    const auto byte = static_cast<int8_t>(a);
    ASSERT_EQ(s32_s8(a), static_cast<uint32_t>(int32_t{byte}));
    ASSERT_EQ(s16_s8(a), static_cast<uint16_t>(int16_t{byte}));
    ASSERT_EQ(u32_u16(a), a & 0xFFFF);
    ASSERT_EQ(s8_s32(a), static_cast<uint32_t>(int32_t{byte}));
    ASSERT_EQ(u8_u32(a), a & 0xFF);
  }
}

TEST(LiftConversion, SaturatedIntegersClamp) {
  const Operation s8_s32("cvt.sat.s8.s32 %r9, %r0;", "%r9");
  const Operation u8_s32("cvt.sat.u8.s32 %r9, %r0;", "%r9");
  const Operation s32_u32("cvt.sat.s32.u32 %r9, %r0;", "%r9");
  const Operation u16_s64("cvt.sat.u16.s64 %h9, %rd0;", "%h9");
  for (uint64_t a : integer_edges()) {
    const auto x = static_cast<int32_t>(a);
    ASSERT_EQ(s8_s32(a), static_cast<uint32_t>(std::clamp(x, -128, 127)));
    ASSERT_EQ(u8_s32(a), static_cast<uint32_t>(std::clamp(x, 0, 255)));
    ASSERT_EQ(s32_u32(a), std::min<uint64_t>(a & 0xFFFFFFFF, 0x7FFFFFFF));
    ASSERT_EQ(u16_s64(a),
              static_cast<uint64_t>(std::clamp<int64_t>(static_cast<int64_t>(a), 0, 0xFFFF)));
  }
}

TEST(LiftConversion, IntegersToFloatsRoundToNearest) {
  const Operation f32_s32("cvt.rn.f32.s32 %f9, %r0;", "%f9");
  const Operation f32_u64("cvt.rn.f32.u64 %f9, %rd0;", "%f9");
  const Operation f64_s64("cvt.rn.f64.s64 %fd9, %rd0;", "%fd9");
  const Operation f64_u32("cvt.rn.f64.u32 %fd9, %r0;", "%fd9");
  for (uint64_t a : integer_edges()) {
    ASSERT_EQ(f32_s32(a), bits(static_cast<float>(static_cast<int32_t>(a))));
    ASSERT_EQ(f32_u64(a), bits(static_cast<float>(a)));
    ASSERT_EQ(f64_s64(a), bits(static_cast<double>(static_cast<int64_t>(a))));
    ASSERT_EQ(f64_u32(a), bits(static_cast<double>(static_cast<uint32_t>(a))));
  }
}

// in_mode() narrows with the host's own rounding mode.
float in_mode(double value, int mode) {
  const int before = std::fegetround();
  std::fesetround(mode);
  volatile double source = value;
  volatile auto result = static_cast<float>(source);
  std::fesetround(before);
  return result;
}

TEST(LiftConversion, DoublesToFloatsInEachRounding) {
  const struct {
    const char* rounding;
    int mode;
  } modes[] = {{"rn", FE_TONEAREST}, {"rz", FE_TOWARDZERO}, {"rm", FE_DOWNWARD}, {"rp", FE_UPWARD}};
  for (const auto& [rounding, mode] : modes) {
    const Operation operation("cvt." + std::string(rounding) + ".f32.f64 %f9, %fd0;", "%f9");
    for (double value : double_edges()) {
      const float expected = in_mode(value, mode);
      const uint64_t got = operation(bits(value));
      ASSERT_TRUE(got == bits(expected) || (std::isnan(as_float(got)) && std::isnan(expected)))
          << rounding << " " << value << ": " << as_float(got) << " instead of " << expected;
    }
  }
}

TEST(LiftConversion, FloatsToFloats) {
  const Operation widen("cvt.f64.f32 %fd9, %f0;", "%fd9");
  const Operation widen_flushed("cvt.ftz.f64.f32 %fd9, %f0;", "%fd9");
  const Operation integral("cvt.rmi.f32.f32 %f9, %f0;", "%f9");
  const Operation saturated("cvt.sat.f32.f32 %f9, %f0;", "%f9");
  EXPECT_EQ(widen_flushed(bits(-1e-40F)), bits(-0.0));
  for (float value : float_edges()) {
    if (std::isnan(value)) continue;
    ASSERT_EQ(widen(bits(value)), bits(static_cast<double>(value)));
    ASSERT_EQ(integral(bits(value)), bits(std::floor(value)));
    ASSERT_EQ(saturated(bits(value)), bits(value > 0 ? std::min(value, 1.0F) : 0.0F));
  }
}

TEST(LiftConversion, HalvesAndBrainFloats) {
  const Operation to_half("cvt.rn.f16.f32 %h9, %f0;", "%h9");
  const Operation from_half("cvt.f32.f16 %f9, %h0;", "%f9");
  const Operation to_brain("cvt.rn.bf16.f32 %h9, %f0;", "%h9");
  const Operation from_brain("cvt.f32.bf16 %f9, %h0;", "%f9");
  EXPECT_EQ(to_half(bits(1.0F)), 0x3C00U);
  EXPECT_EQ(to_half(bits(65520.0F)), 0x7C00U);
  EXPECT_EQ(to_half(bits(-1e-7F)), 0x8002U);
  EXPECT_EQ(from_half(0x3555), bits(0.333251953125F));
  EXPECT_EQ(to_brain(bits(1.00390625F)), 0x3F80U);  // a tie goes to even
  EXPECT_EQ(to_brain(bits(1.0117188F)), 0x3F82U);
  EXPECT_EQ(to_brain(bits(std::numeric_limits<float>::max())), 0x7F80U);
  EXPECT_EQ(to_brain(bits(std::numeric_limits<float>::quiet_NaN())), 0x7FFFU);
  EXPECT_EQ(from_brain(0xC0A0), bits(-5.0F));
}

// A tf32 has 11 digits and f32's exponents. The reference rounds the significand as an integer.
uint32_t to_tf32(float value, bool ties_to_even) {
  int exponent = 0;
  const double digits = std::ldexp(std::frexp(static_cast<double>(value), &exponent), 11);
  double whole = ties_to_even ? std::nearbyint(digits) : std::round(digits);
  if (exponent < -125) {  // fewer digits: the last one counts 2^-136
    const double last = std::ldexp(static_cast<double>(value), 136);
    whole = ties_to_even ? std::nearbyint(last) : std::round(last);
    return bits(static_cast<float>(std::ldexp(whole, -136)));
  }
  return bits(static_cast<float>(std::ldexp(whole, exponent - 11)));
}

TEST(LiftConversion, RoundsToTensorFloats) {
  const Operation away("cvt.rna.tf32.f32 %r9, %f0;", "%r9");
  const Operation even("cvt.rn.tf32.f32 %r9, %f0;", "%r9");
  const Operation zero("cvt.rz.relu.tf32.f32 %r9, %f0;", "%r9");
  const Operation finite("cvt.rna.satfinite.tf32.f32 %r9, %f0;", "%r9");
  std::vector<float> values = float_edges();
  // Ties, and their neighbours.
  for (uint32_t pattern : {0x3F801000U, 0x3F803000U, 0x3F800FFFU, 0x3F801001U, 0xBF801000U,
                           0x00001000U, 0x007FF000U, 0x7F7FEFFFU}) {
    values.push_back(std::bit_cast<float>(pattern));
  }
  for (float value : values) {
    if (!std::isfinite(value)) continue;
    ASSERT_EQ(away(bits(value)), to_tf32(value, false)) << value;
    ASSERT_EQ(even(bits(value)), to_tf32(value, true)) << value;
    ASSERT_EQ(zero(bits(value)), value > 0 ? bits(value) & 0xFFFFE000U : 0U) << value;
  }
  const float largest = std::numeric_limits<float>::max();
  const float infinity = std::numeric_limits<float>::infinity();
  EXPECT_EQ(away(bits(largest)), 0x7F800000U);
  EXPECT_EQ(away(bits(-infinity)), 0xFF800000U);
  EXPECT_EQ(finite(bits(-largest)), 0xFF7FE000U);
  EXPECT_EQ(finite(bits(infinity)), 0x7F7FE000U);
  EXPECT_EQ(finite(bits(1.5F)), bits(1.5F));
  for (const Operation* operation : {&away, &even, &zero, &finite})
    EXPECT_EQ((*operation)(0xFFC00001U), 0x7FFFFFFFU);
}

}  // namespace
}  // namespace sluice::ptx::test
