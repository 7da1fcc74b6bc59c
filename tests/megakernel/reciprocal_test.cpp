// The divisions that the scheduler kernel does by multiplications.
#include <random>

#include <gtest/gtest.h>

#include "megakernel/cuda/tables/device_edges.h"

namespace sluice::megakernel {
namespace {

uint32_t divide(uint32_t value, const SluiceReciprocal& by) {
  const uint64_t addend = (uint64_t{by.zero} << 32) | by.addend;
  return static_cast<uint32_t>((uint64_t{by.factor} * value + addend) >> 32) >> by.shift;
}

TEST(Reciprocal, DividesEveryNumberOfThirtyTwoBits) {
  std::mt19937 random(1);
  const auto check = [](uint32_t value, uint32_t divisor) {
    ASSERT_EQ(divide(value, reciprocal_of(divisor)), value / divisor) << value << " / " << divisor;
  };
  const auto check_divisor = [&](uint32_t divisor) {
    // What is wrong is wrong just before a multiple, and most so at the largest.
    const uint32_t most = UINT32_MAX / divisor * divisor;
    for (const uint32_t value : {0U, 1U, divisor - 1, divisor, most - 1, most, UINT32_MAX})
      check(value, divisor);
    for (int i = 0; i < 20; ++i) {
      const uint32_t value = static_cast<uint32_t>(random()) / divisor * divisor;
      check(value, divisor);
      check(value - 1, divisor);
    }
  };
  for (uint32_t divisor = 1; divisor < 1000; ++divisor)
    check_divisor(divisor);
  for (int i = 0; i < 2000; ++i)
    check_divisor(1 + (static_cast<uint32_t>(random()) >> (i % 32)) % UINT32_MAX);
}

}  // namespace
}  // namespace sluice::megakernel
