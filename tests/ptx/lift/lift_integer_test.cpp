// What lifted integer instructions compute, at their edges, against plain C++.
#include <algorithm>
#include <cstdint>
#include <functional>
#include <limits>
#include <string>

#include <gtest/gtest.h>

#include "ptx/lift/lift_on_host.hpp"

namespace sluice::ptx::test {
namespace {

using Binary32 = std::function<uint32_t(uint32_t, uint32_t)>;
using Binary64 = std::function<uint64_t(uint64_t, uint64_t)>;

void expect_binary32(const std::string& opcode, const Binary32& reference) {
  const Operation operation(opcode + " %r9, %r0, %r1;", "%r9");
  for (uint64_t a : integer_edges()) {
    for (uint64_t b : integer_edges()) {
      const auto x = static_cast<uint32_t>(a);
      const auto y = static_cast<uint32_t>(b);
      ASSERT_EQ(operation(x, y), reference(x, y)) << opcode << " " << x << ", " << y;
    }
  }
}

void expect_binary64(const std::string& opcode, const Binary64& reference) {
  const Operation operation(opcode + " %rd9, %rd0, %rd1;", "%rd9");
  for (uint64_t a : integer_edges()) {
    for (uint64_t b : integer_edges()) {
      ASSERT_EQ(operation(a, b), reference(a, b)) << opcode << " " << a << ", " << b;
    }
  }
}

int32_t s32(uint64_t value) {
  return static_cast<int32_t>(value);
}
int64_t s64(uint64_t value) {
  return static_cast<int64_t>(value);
}
using U128 = unsigned __int128;
using S128 = __int128;

TEST(LiftInteger, ArithmeticWraps) {
  expect_binary32("add.s32", [](uint32_t a, uint32_t b) { return a + b; });
  expect_binary32("sub.u32", [](uint32_t a, uint32_t b) { return a - b; });
  expect_binary32("mul.lo.s32", [](uint32_t a, uint32_t b) { return a * b; });
  expect_binary64("add.u64", [](uint64_t a, uint64_t b) { return a + b; });
  expect_binary64("mul.lo.s64", [](uint64_t a, uint64_t b) { return a * b; });
}

TEST(LiftInteger, MultiplicationGivesUpperHalves) {
  expect_binary32("mul.hi.s32", [](uint32_t a, uint32_t b) {
    return static_cast<uint32_t>((int64_t{s32(a)} * s32(b)) >> 32);
  });
  expect_binary32("mul.hi.u32", [](uint32_t a, uint32_t b) {
    return static_cast<uint32_t>((uint64_t{a} * b) >> 32);
  });
  expect_binary64("mul.hi.s64", [](uint64_t a, uint64_t b) {
    return static_cast<uint64_t>((S128{s64(a)} * s64(b)) >> 64);
  });
  expect_binary64("mul.hi.u64", [](uint64_t a, uint64_t b) {
    return static_cast<uint64_t>((U128{a} * b) >> 64);
  });
}

TEST(LiftInteger, WideMultiplicationExtendsByTheSign) {
  const Operation with_sign("mul.wide.s32 %rd9, %r0, %r1;", "%rd9");
  const Operation without("mul.wide.u32 %rd9, %r0, %r1;", "%rd9");
  const Operation halves("mul.wide.s16 %r9, %h0, %h1;", "%r9");
  const Operation added("mad.wide.s32 %rd9, %r0, %r1, %rd2;", "%rd9");
  for (uint64_t a : integer_edges()) {
    for (uint64_t b : integer_edges()) {
      const int64_t product = int64_t{s32(a)} * s32(b);
      ASSERT_EQ(with_sign(a, b), static_cast<uint64_t>(product));
      ASSERT_EQ(without(a, b), (a & 0xFFFFFFFF) * (b & 0xFFFFFFFF));
      ASSERT_EQ(added(a, b, a), static_cast<uint64_t>(product) + a);
      const int32_t small = int32_t{static_cast<int16_t>(a)} * static_cast<int16_t>(b);
      ASSERT_EQ(halves(a, b), static_cast<uint32_t>(small));
    }
  }
}

TEST(LiftInteger, DivisionByZeroAndOverflowAreDefined) {
  expect_binary32("div.s32", [](uint32_t a, uint32_t b) -> uint32_t {
    if (b == 0) return 0xFFFFFFFF;
    if (s32(b) == -1) return 0 - a;
    return static_cast<uint32_t>(s32(a) / s32(b));
  });
  expect_binary32("div.u32", [](uint32_t a, uint32_t b) { return b == 0 ? 0xFFFFFFFF : a / b; });
  expect_binary32("rem.s32", [](uint32_t a, uint32_t b) -> uint32_t {
    if (b == 0) return a;
    if (s32(b) == -1) return 0;
    return static_cast<uint32_t>(s32(a) % s32(b));
  });
  expect_binary32("rem.u32", [](uint32_t a, uint32_t b) { return b == 0 ? a : a % b; });
  expect_binary64("div.s64", [](uint64_t a, uint64_t b) -> uint64_t {
    if (b == 0) return ~uint64_t{0};
    if (s64(b) == -1) return 0 - a;
    return static_cast<uint64_t>(s64(a) / s64(b));
  });
  expect_binary64("rem.u64", [](uint64_t a, uint64_t b) { return b == 0 ? a : a % b; });
}

TEST(LiftInteger, DivisionByConstants) {
  const Operation by_seven("div.s32 %r9, %r0, 7;", "%r9");
  const Operation by_minus_one("div.s32 %r9, %r0, -1;", "%r9");
  const Operation by_zero("div.u32 %r9, %r0, 0;", "%r9");
  const Operation remainder("rem.s32 %r9, %r0, -1;", "%r9");
  for (uint64_t a : integer_edges()) {
    ASSERT_EQ(by_seven(a), static_cast<uint32_t>(s32(a) / 7));
    ASSERT_EQ(by_minus_one(a), static_cast<uint32_t>(0 - a));
    ASSERT_EQ(by_zero(a), 0xFFFFFFFF);
    ASSERT_EQ(remainder(a), 0U);
  }
}

TEST(LiftInteger, MinimumMaximumAbsoluteSaturated) {
  expect_binary32("min.s32", [](uint32_t a, uint32_t b) {
    return static_cast<uint32_t>(std::min(s32(a), s32(b)));
  });
  expect_binary32("max.u32", [](uint32_t a, uint32_t b) { return std::max(a, b); });
  expect_binary64("max.s64", [](uint64_t a, uint64_t b) {
    return static_cast<uint64_t>(std::max(s64(a), s64(b)));
  });
  auto clamp = [](int64_t value) {
    return static_cast<uint32_t>(std::clamp<int64_t>(value, std::numeric_limits<int32_t>::min(),
                                                     std::numeric_limits<int32_t>::max()));
  };
  expect_binary32("add.sat.s32",
                  [&](uint32_t a, uint32_t b) { return clamp(int64_t{s32(a)} + s32(b)); });
  expect_binary32("sub.sat.s32",
                  [&](uint32_t a, uint32_t b) { return clamp(int64_t{s32(a)} - s32(b)); });
  const Operation absolute("abs.s32 %r9, %r0;", "%r9");
  for (uint64_t a : integer_edges()) {
    const auto x = static_cast<uint32_t>(a);
    ASSERT_EQ(absolute(a), s32(x) < 0 ? 0 - x : x);
  }
}

TEST(LiftInteger, ShiftsByTheWidthOrMore) {
  expect_binary32("shl.b32", [](uint32_t a, uint32_t b) { return b > 31 ? 0 : a << b; });
  expect_binary32("shr.u32", [](uint32_t a, uint32_t b) { return b > 31 ? 0 : a >> b; });
  expect_binary32("shr.b32", [](uint32_t a, uint32_t b) { return b > 31 ? 0 : a >> b; });
  expect_binary32("shr.s32", [](uint32_t a, uint32_t b) {
    return static_cast<uint32_t>(s32(a) >> std::min<uint32_t>(b, 31));
  });
  const Operation left("shl.b64 %rd9, %rd0, %r1;", "%rd9");
  const Operation right("shr.s64 %rd9, %rd0, %r1;", "%rd9");
  const Operation half("shr.s16 %h9, %h0, %r1;", "%h9");
  const Operation half_left("shl.b16 %h9, %h0, %r1;", "%h9");
  const Operation constant("shl.b32 %r9, %r0, 32;", "%r9");
  const Operation constant_sign("shr.s32 %r9, %r0, 99;", "%r9");
  for (uint64_t a : integer_edges()) {
    ASSERT_EQ(constant(a), 0U);
    ASSERT_EQ(constant_sign(a), s32(a) < 0 ? 0xFFFFFFFFU : 0U);
    for (uint64_t wide : integer_edges()) {
      const auto b = static_cast<uint32_t>(wide);
      ASSERT_EQ(left(a, b), b > 63 ? 0 : a << b);
      ASSERT_EQ(right(a, b), static_cast<uint64_t>(s64(a) >> std::min<uint32_t>(b, 63)));
      const int narrow = static_cast<int16_t>(a) >> std::min<uint32_t>(b, 15);
      ASSERT_EQ(half(a, b), static_cast<uint16_t>(narrow));
      ASSERT_EQ(half_left(a, b), b > 15 ? 0U : static_cast<uint16_t>(a << b));
    }
  }
}

TEST(LiftInteger, FunnelShiftsWrapOrClamp) {
  const Operation left_wrap("shf.l.wrap.b32 %r9, %r0, %r1, %r2;", "%r9");
  const Operation left_clamp("shf.l.clamp.b32 %r9, %r0, %r1, %r2;", "%r9");
  const Operation right_wrap("shf.r.wrap.b32 %r9, %r0, %r1, %r2;", "%r9");
  const Operation right_clamp("shf.r.clamp.b32 %r9, %r0, %r1, %r2;", "%r9");
  const uint32_t low = 0x89ABCDEF;
  const uint32_t high = 0x12345678;
  const uint64_t pair = uint64_t{high} << 32 | low;
  for (uint32_t amount : {0U, 1U, 8U, 31U, 32U, 33U, 40U, 0xFFFFFFFFU}) {
    const uint32_t wrapped = amount & 31;
    const uint32_t clamped = std::min(amount, 32U);
    ASSERT_EQ(left_wrap(low, high, amount), static_cast<uint32_t>(pair << wrapped >> 32));
    ASSERT_EQ(left_clamp(low, high, amount), static_cast<uint32_t>(pair << clamped >> 32));
    ASSERT_EQ(right_wrap(low, high, amount), static_cast<uint32_t>(pair >> wrapped));
    ASSERT_EQ(right_clamp(low, high, amount), static_cast<uint32_t>(pair >> clamped));
  }
}

TEST(LiftInteger, CarriesRunThroughChains) {
  const Operation add_128(
      "add.cc.u64 %rd8, %rd0, %rd1;\naddc.cc.u64 %rd7, %rd0, %rd1;\naddc.u64 %rd9, 0, 0;", "%rd9");
  const Operation sub_128("sub.cc.u32 %r8, %r0, %r1;\nsubc.u32 %r9, %r2, 0;", "%r9");
  const Operation mad("mad.lo.cc.u32 %r8, %r0, %r1, %r2;\nmadc.hi.u32 %r9, %r0, %r1, 0;", "%r9");
  for (uint64_t a : integer_edges()) {
    for (uint64_t b : integer_edges()) {
      const bool low_carry = a + b < a;
      ASSERT_EQ(add_128(a, b), static_cast<uint64_t>((U128{a} + b + low_carry) >> 64));
      const auto x = static_cast<uint32_t>(a);
      const auto y = static_cast<uint32_t>(b);
      ASSERT_EQ(sub_128(x, y, 5), static_cast<uint32_t>(5 - (x < y ? 1 : 0)));
      ASSERT_EQ(mad(x, y, x), static_cast<uint32_t>((uint64_t{x} * y + x) >> 32));
    }
  }
}

TEST(LiftInteger, SumOfAbsoluteDifferencesAndDotProducts) {
  const Operation sad("sad.s32 %r9, %r0, %r1, %r2;", "%r9");
  const Operation dot("dp4a.s32.u32 %r9, %r0, %r1, %r2;", "%r9");
  const Operation dot_pairs("dp2a.hi.s32.s32 %r9, %r0, %r1, %r2;", "%r9");
  EXPECT_EQ(dot_pairs(0xFFFE0003, 0x05FC0000, 100), 100U - 2 * 5 + 3 * -4);
  const Operation narrow("mul24.lo.s32 %r9, %r0, %r1;", "%r9");
  const Operation narrow_high("mul24.hi.u32 %r9, %r0, %r1;", "%r9");
  for (uint64_t a : integer_edges()) {
    for (uint64_t b : integer_edges()) {
      const int64_t difference = int64_t{s32(a)} - s32(b);
      ASSERT_EQ(sad(a, b, 7), static_cast<uint32_t>(std::abs(difference)) + 7);
      uint32_t sum = 7;
      for (int byte = 0; byte < 4; ++byte) {
        sum += static_cast<uint32_t>(static_cast<int8_t>(a >> (8 * byte)) *
                                     static_cast<int>(static_cast<uint8_t>(b >> (8 * byte))));
      }
      ASSERT_EQ(dot(a, b, 7), sum);
      const int64_t x = s32(a << 8) >> 8;
      const int64_t y = s32(b << 8) >> 8;
      ASSERT_EQ(narrow(a, b), static_cast<uint32_t>(x * y));
      ASSERT_EQ(narrow_high(a, b), static_cast<uint32_t>(((a & 0xFFFFFF) * (b & 0xFFFFFF)) >> 16));
    }
  }
}

}  // namespace
}  // namespace sluice::ptx::test
