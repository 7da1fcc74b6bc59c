#include "hostcuda/memory/free_ranges.hpp"

#include <gtest/gtest.h>

namespace sluice::hostcuda {
namespace {

TEST(FreeRanges, TakesFromTheSmallestThatSuffices) {
  FreeRanges free;
  free.give({0x1000, 0x400});
  free.give({0x2000, 0x100});
  free.give({0x3000, 0x200});
  EXPECT_EQ(free.take(0x180, 1), 0x3000u);
  EXPECT_EQ(free.take(0x80, 1), 0x3180u);
  EXPECT_EQ(free.take(0x200, 1), 0x1000u);
  EXPECT_FALSE(free.take(0x400, 1).has_value());
}

TEST(FreeRanges, AlignsAndKeepsWhatLiesBefore) {
  FreeRanges free;
  free.give({0x1100, 0x1000});
  EXPECT_EQ(free.take(0x100, 0x1000), 0x2000u);
  EXPECT_FALSE(free.take(0x100, 0x1000).has_value());
  EXPECT_EQ(free.take(0xF00, 0x100), 0x1100u);
  EXPECT_FALSE(free.take(1, 1).has_value());
}

TEST(FreeRanges, JoinsNeighbours) {
  FreeRanges free;
  free.give({0x1000, 0x100});
  free.give({0x1200, 0x100});
  const FreeRange whole = free.give({0x1100, 0x100});
  EXPECT_EQ(whole.address, 0x1000u);
  EXPECT_EQ(whole.bytes, 0x300u);
  EXPECT_EQ(free.count_of_at_least(0x300), 1u);
  free.remove(whole);
  EXPECT_EQ(free.count_of_at_least(1), 0u);
}

}  // namespace
}  // namespace sluice::hostcuda
