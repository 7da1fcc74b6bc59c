// fns, the place of the nth set bit.
#include <cstdint>
#include <cstdlib>

#include <gtest/gtest.h>

#include "ptx/lift/lift_on_host.hpp"

namespace sluice::ptx::test {
namespace {

TEST(LiftFns, FindsTheNthSetBit) {
  const Operation fns("fns.b32 %r9, %r0, %r1, %r2;", "%r9");
  for (uint32_t mask : {0U, 1U, 0x80000000U, 0xFFFFFFFFU, 0x00F0A501U, 0x40000002U}) {
    for (int base = 0; base < 32; base += 5) {
      for (int offset : {-33, -32, -3, -2, -1, 0, 1, 2, 7, 31, 32, 33}) {
        uint32_t expected = 0xFFFFFFFF;
        if (offset == 0) {
          if (mask >> base & 1) expected = uint32_t(base);
        } else {
          int count = std::abs(offset) - 1;
          for (int at = base; at >= 0 && at < 32; at += offset > 0 ? 1 : -1) {
            if ((mask >> at & 1) == 0) continue;
            if (count-- == 0) {
              expected = uint32_t(at);
              break;
            }
          }
        }
        ASSERT_EQ(fns(mask, uint64_t(base), uint64_t(int64_t{offset})), expected)
            << mask << " " << base << " " << offset;
      }
    }
  }
}

}  // namespace
}  // namespace sluice::ptx::test
