// Loops over what a relation says end where they were told to.
#include "relation/access_loops.hpp"

#include <gtest/gtest.h>

namespace sluice {
namespace {

// The inner loop, over d, is empty at most of a million blocks.
// Found by journals changed at random: at an odd bound the count of steps went past 0 and never
// ended.
TEST(AccessLoops, StepsOfEmptyLoopsEndAtTheBoundToo) {
  const IslContext context;
  const isl::map relation(context.get(),
                          "{ B[x, y, z] -> A[o] : y = 0 and z = 0 and 0 <= x < 1000000 and o = x "
                          "and exists (d : 3x + 1 <= 1000 d <= 3x + 2) }");
  const auto loops = AccessLoops::make(relation);
  ASSERT_TRUE(loops);
  for (const size_t most_steps : {1000U, 1001U, 1002U, 1003U}) {
    std::vector<ByteRun> runs;
    Budget budget({most_steps, UINT64_MAX});
    EXPECT_FALSE(loops->list({}, {1000000, 1, 1}, budget, runs)) << most_steps;
  }
  std::vector<ByteRun> runs;
  Budget enough(Budget::unlimited);
  EXPECT_TRUE(loops->list({}, {1000000, 1, 1}, enough, runs));
  EXPECT_EQ(runs.size(), 2000U);
}

}  // namespace
}  // namespace sluice
