// Conversions from 16 bits, each of all 65536 inputs: zeros of both signs, denormals, infinities
// and NaNs with them.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <utility>

#include <gtest/gtest.h>

#include "ptx/lift/lift_on_host.hpp"

namespace sluice::ptx::test {
namespace {

constexpr uint32_t all_inputs = 0x10000;

// meaning() is the number that 16 bits stand for, with so many bits of fraction.
double meaning(uint32_t value, int fraction_bits) {
  const int exponent_bits = 15 - fraction_bits;
  const int bias = (1 << (exponent_bits - 1)) - 1;
  const int exponent = static_cast<int>(value >> fraction_bits) & ((1 << exponent_bits) - 1);
  const int fraction = static_cast<int>(value) & ((1 << fraction_bits) - 1);
  const double sign = (value & 0x8000) != 0 ? -1 : 1;
  if (exponent == (1 << exponent_bits) - 1) {
    return fraction != 0 ? std::numeric_limits<double>::quiet_NaN()
                         : sign * std::numeric_limits<double>::infinity();
  }
  const int hidden = exponent == 0 ? 0 : 1 << fraction_bits;
  return sign * std::ldexp(hidden + fraction, std::max(exponent, 1) - bias - fraction_bits);
}

TEST(LiftEveryInput, NarrowFloatsBecomeWider) {
  const Operation from_half("cvt.f32.f16 %f9, %h0;", "%f9");
  const Operation from_brain("cvt.f32.bf16 %f9, %h0;", "%f9");
  const Operation to_double("cvt.f64.f16 %fd9, %h0;", "%fd9");
  for (uint32_t input = 0; input < all_inputs; ++input) {
    for (const int fraction_bits : {10, 7}) {
      const double expected = meaning(input, fraction_bits);
      const float found = as_float((fraction_bits == 10 ? from_half : from_brain)(input));
      if (std::isnan(expected)) {
        ASSERT_TRUE(std::isnan(found)) << input;
      } else {
        ASSERT_EQ(bits(found), bits(static_cast<float>(expected))) << input;
      }
    }
    const double expected = meaning(input, 10);
    const double found = as_double(to_double(input));
    ASSERT_TRUE(std::isnan(expected) ? std::isnan(found) : bits(found) == bits(expected)) << input;
  }
}

// NaN becomes zero, or 2^63 in 64 bits, and what is too large the nearest there is.
template <class Integer>
void expect_integers(const char* type, const char* result) {
  const std::pair<const char*, double (*)(double)> roundings[] = {
      {"rni", [](double value) { return std::nearbyint(value); }},
      {"rzi", [](double value) { return std::trunc(value); }},
      {"rmi", [](double value) { return std::floor(value); }},
      {"rpi", [](double value) { return std::ceil(value); }}};
  for (const auto& [name, round] : roundings) {
    const std::string text = std::string("cvt.") + name + "." + type + ".f16 " + result + ", %h0;";
    const Operation convert(text, result);
    for (uint32_t input = 0; input < all_inputs; ++input) {
      const double value = meaning(input, 10);
      constexpr auto least = std::numeric_limits<Integer>::min();
      constexpr auto most = std::numeric_limits<Integer>::max();
      auto expected = static_cast<Integer>(sizeof(Integer) == 8 ? uint64_t{1} << 63 : 0);
      if (!std::isnan(value)) {
        const double whole = round(value);
        if (whole <= double(least)) {
          expected = least;
        } else {
          expected = whole >= double(most) ? most : static_cast<Integer>(whole);
        }
      }
      ASSERT_EQ(static_cast<Integer>(convert(input)), expected) << text << " of " << input;
    }
  }
}

TEST(LiftEveryInput, HalvesBecomeIntegers) {
  expect_integers<int16_t>("s16", "%h9");
  expect_integers<uint16_t>("u16", "%h9");
  expect_integers<int32_t>("s32", "%r9");
  expect_integers<uint32_t>("u32", "%r9");
  expect_integers<int64_t>("s64", "%rd9");
  expect_integers<uint64_t>("u64", "%rd9");
}

TEST(LiftEveryInput, IntegersBecomeFloats) {
  const Operation from_signed("cvt.rn.f32.s16 %f9, %h0;", "%f9");
  const Operation from_unsigned("cvt.rn.f32.u16 %f9, %h0;", "%f9");
  const Operation to_half("cvt.rn.f16.s16 %h9, %h0;", "%h9");
  for (uint32_t input = 0; input < all_inputs; ++input) {
    const auto number = static_cast<int16_t>(input);
    ASSERT_EQ(as_float(from_signed(input)), float(number)) << input;
    ASSERT_EQ(as_float(from_unsigned(input)), float(input)) << input;
    // Eleven digits: halves of this size are multiples of `unit`, and none beyond 65504 comes up.
    const int digits = number == 0 ? 0 : std::ilogb(double(number)) + 1;
    const double unit = std::ldexp(1.0, std::max(digits - 11, 0));
    ASSERT_EQ(meaning(static_cast<uint32_t>(to_half(input)) & 0xFFFF, 10),
              std::nearbyint(number / unit) * unit)
        << input;
  }
}

TEST(LiftEveryInput, IntegersChangeTheirWidth) {
  const Operation longer("cvt.s32.s16 %r9, %h0;", "%r9"), longest("cvt.u64.u16 %rd9, %h0;", "%rd9");
  const Operation byte("cvt.s32.s8 %r9, %h0;", "%r9"), saturated("cvt.sat.u8.s16 %h9, %h0;", "%h9");
  for (uint32_t input = 0; input < all_inputs; ++input) {
    const auto number = static_cast<int16_t>(input);
    ASSERT_EQ(static_cast<int32_t>(longer(input)), number);
    ASSERT_EQ(longest(input), input);
    ASSERT_EQ(static_cast<int32_t>(byte(input)), static_cast<int8_t>(input));
    ASSERT_EQ(saturated(input) & 0xFFFF, static_cast<uint64_t>(std::clamp<int>(number, 0, 255)));
  }
}

}  // namespace
}  // namespace sluice::ptx::test
