// What lifted bit instructions compute, against the pseudocode of the PTX ISA.
#include <algorithm>
#include <bit>
#include <cstdint>
#include <string>

#include <gtest/gtest.h>

#include "ptx/lift/lift_on_host.hpp"

namespace sluice::ptx::test {
namespace {

bool bit(uint64_t value, unsigned position) {
  return (value >> position & 1) != 0;
}

// extract() is the ISA's own loop for bfe.
uint64_t extract(uint64_t a, uint64_t b, uint64_t c, unsigned width, bool with_sign) {
  const unsigned last = width - 1;
  const unsigned position = b & 0xFF;
  const unsigned length = c & 0xFF;
  const bool sign =
      with_sign && length != 0 && bit(a, std::min<unsigned>(position + length - 1, last));
  uint64_t result = 0;
  for (unsigned i = 0; i <= last; ++i) {
    const bool set = i < length && position + i <= last ? bit(a, position + i) : sign;
    if (set) result |= uint64_t{1} << i;
  }
  return result;
}

uint64_t insert(uint64_t a, uint64_t base, uint64_t c, uint64_t d, unsigned width) {
  const unsigned position = c & 0xFF;
  const unsigned length = d & 0xFF;
  uint64_t result = base;
  for (unsigned i = 0; i < length && position + i < width; ++i) {
    const uint64_t mask = uint64_t{1} << (position + i);
    result = bit(a, i) ? result | mask : result & ~mask;
  }
  return result;
}

TEST(LiftBits, ExtractsFieldsOfAnyPositionAndLength) {
  const Operation u32("bfe.u32 %r9, %r0, %r1, %r2;", "%r9");
  const Operation s32("bfe.s32 %r9, %r0, %r1, %r2;", "%r9");
  const Operation u64("bfe.u64 %rd9, %rd0, %r1, %r2;", "%rd9");
  const Operation s64("bfe.s64 %rd9, %rd0, %r1, %r2;", "%rd9");
  for (uint64_t a : {0x80F0A5C3ULL, 0x7FFFFFFFULL, 0xF123456789ABCDEFULL, 0ULL}) {
    for (uint64_t b : {0, 1, 7, 31, 32, 63, 64, 255, 256, 300}) {
      for (uint64_t c : {0, 1, 8, 31, 32, 33, 63, 64, 255, 257}) {
        const uint64_t low = a & 0xFFFFFFFF;
        ASSERT_EQ(u32(low, b, c), extract(low, b, c, 32, false)) << a << " " << b << " " << c;
        ASSERT_EQ(s32(low, b, c), extract(low, b, c, 32, true)) << a << " " << b << " " << c;
        ASSERT_EQ(u64(a, b, c), extract(a, b, c, 64, false)) << a << " " << b << " " << c;
        ASSERT_EQ(s64(a, b, c), extract(a, b, c, 64, true)) << a << " " << b << " " << c;
      }
    }
  }
}

TEST(LiftBits, InsertsFieldsOfAnyPositionAndLength) {
  const Operation narrow("bfi.b32 %r9, 0xA5C396F1, %r0, %r1, %r2;", "%r9");
  const Operation wide("bfi.b64 %rd9, 0xA5C396F112345678, %rd0, %r1, %r2;", "%rd9");
  for (uint64_t a : {0x12345678ULL, 0xFFFFFFFFFFFFFFFFULL, 0ULL}) {
    for (uint64_t b : {0, 1, 7, 31, 32, 63, 64, 255, 256}) {
      for (uint64_t c : {0, 1, 8, 31, 32, 63, 64, 255, 257}) {
        const uint64_t low = a & 0xFFFFFFFF;
        ASSERT_EQ(narrow(low, b, c), insert(0xA5C396F1, low, b, c, 32)) << a << " " << b;
        ASSERT_EQ(wide(a, b, c), insert(0xA5C396F112345678, a, b, c, 64)) << a << " " << b;
      }
    }
  }
}

TEST(LiftBits, CountsFindsAndReverses) {
  const Operation popc("popc.b64 %r9, %rd0;", "%r9");
  const Operation clz("clz.b32 %r9, %r0;", "%r9");
  const Operation clz_wide("clz.b64 %r9, %rd0;", "%r9");
  const Operation reverse("brev.b32 %r9, %r0;", "%r9");
  const Operation find("bfind.u32 %r9, %r0;", "%r9");
  const Operation find_signed("bfind.s32 %r9, %r0;", "%r9");
  const Operation find_shift("bfind.shiftamt.u32 %r9, %r0;", "%r9");
  for (uint64_t a : integer_edges()) {
    const auto x = static_cast<uint32_t>(a);
    ASSERT_EQ(popc(a), static_cast<uint64_t>(std::popcount(a)));
    ASSERT_EQ(clz(a), static_cast<uint64_t>(std::countl_zero(x)));
    ASSERT_EQ(clz_wide(a), static_cast<uint64_t>(std::countl_zero(a)));
    uint32_t reversed = 0;
    for (unsigned i = 0; i < 32; ++i) {
      if (bit(x, i)) reversed |= 1U << (31 - i);
    }
    ASSERT_EQ(reverse(a), reversed);
    auto highest = [](uint32_t value) {
      for (unsigned i = 32; i > 0; --i) {
        if (bit(value, i - 1)) return i - 1;
      }
      return 0xFFFFFFFFU;
    };
    ASSERT_EQ(find(a), highest(x));
    ASSERT_EQ(find_signed(a), highest(bit(x, 31) ? ~x : x));
    ASSERT_EQ(find_shift(a), x == 0 ? 0xFFFFFFFFU : 31 - highest(x));
  }
}

TEST(LiftBits, PermutesBytesAndReplicatesSigns) {
  const Operation permute("prmt.b32 %r9, %r0, %r1, %r2;", "%r9");
  const uint32_t a = 0x8321F765;
  const uint32_t b = 0x7CB0A998;
  const uint64_t pair = uint64_t{b} << 32 | a;
  for (uint32_t selector : {0x3210U, 0x7654U, 0x0123U, 0xFEDCU, 0xBA98U, 0x5140U, 0x8888U}) {
    uint32_t expected = 0;
    for (unsigned i = 0; i < 4; ++i) {
      const unsigned nibble = selector >> (4 * i) & 0xF;
      uint32_t byte = pair >> (8 * (nibble & 7)) & 0xFF;
      if ((nibble & 8) != 0) byte = (byte & 0x80) != 0 ? 0xFF : 0;
      expected |= byte << (8 * i);
    }
    ASSERT_EQ(permute(a, b, selector), expected) << std::hex << selector;
  }
}

TEST(LiftBits, LogicOfThreeOperandsFollowsItsTable) {
  const uint32_t a = 0xF0F0F0F0;
  const uint32_t b = 0xCCCCCCCC;
  const uint32_t c = 0xAAAAAAAA;
  for (unsigned table : {0x00U, 0x80U, 0x96U, 0xE8U, 0xFEU, 0xFFU, 0x1BU}) {
    const Operation logic("lop3.b32 %r9, %r0, %r1, %r2, " + std::to_string(table) + ";", "%r9");
    uint32_t expected = 0;
    for (unsigned i = 0; i < 32; ++i) {
      const unsigned row = bit(a, i) << 2 | bit(b, i) << 1 | bit(c, i);
      if (bit(table, row)) expected |= 1U << i;
    }
    ASSERT_EQ(logic(a, b, c), expected) << table;
  }
}

TEST(LiftBits, MasksAndExtensions) {
  const Operation clamp("bmsk.clamp.b32 %r9, %r0, %r1;", "%r9");
  const Operation wrap("bmsk.wrap.b32 %r9, %r0, %r1;", "%r9");
  const Operation extend("szext.clamp.s32 %r9, %r0, %r1;", "%r9");
  const Operation extend_zero("szext.wrap.u32 %r9, %r0, %r1;", "%r9");
  EXPECT_EQ(clamp(4, 8), 0xFF0U);
  EXPECT_EQ(clamp(28, 8), 0xF0000000U);
  EXPECT_EQ(clamp(32, 8), 0U);
  EXPECT_EQ(clamp(0, 40), 0xFFFFFFFFU);
  EXPECT_EQ(wrap(33, 33), 2U);
  EXPECT_EQ(extend(0xF8, 4), 0xFFFFFFF8U);
  EXPECT_EQ(extend(0xF7, 4), 7U);
  EXPECT_EQ(extend(0x80000000, 32), 0x80000000U);
  EXPECT_EQ(extend(0xFF, 0), 0U);
  EXPECT_EQ(extend_zero(0xFFF, 36), 0xFU);
}

TEST(LiftBits, MovesPackAndUnpack) {
  const Operation pack("mov.b64 %rd9, {%r0, %r1};", "%rd9");
  const Operation unpack("mov.b64 {%r8, %r9}, %rd0;", "%r9");
  const Operation sink("mov.b64 {%r9, _}, %rd0;", "%r9");
  const Operation quarters("mov.b64 {%h1, %h2, %h3, %h9}, %rd0;", "%h9");
  const Operation halves("mov.b32 {%h8, %h9}, %r0;\nmov.b32 %r9, {%h9, %h8};", "%r9");
  const Operation as_float("mov.b32 %f9, %r0;\nmov.b32 %r9, %f9;", "%r9");
  for (uint64_t a : integer_edges()) {
    const auto x = static_cast<uint32_t>(a);
    ASSERT_EQ(pack(x, ~x), uint64_t{~x} << 32 | x);
    ASSERT_EQ(unpack(a), a >> 32);
    ASSERT_EQ(sink(a), x);
    ASSERT_EQ(quarters(a), a >> 48);
    ASSERT_EQ(halves(a), std::rotl(x, 16));
    ASSERT_EQ(as_float(a), x);
  }
}

}  // namespace
}  // namespace sluice::ptx::test
