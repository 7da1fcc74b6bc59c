// The reader of relations that random kernels are held against.
#include "relation_bytes.hpp"

#include <gtest/gtest.h>

#include "relation_text.hpp"

namespace sluice::analysis::random {
namespace {

using sluice::testing::relation_of;

// (x | 180) * 8 for every even x up to 167,772,280: what a product of indices leaves.
constexpr const char* bits_of_a_product =
    "{ B[x = 0, y = 0, z] -> A[o] : exists (e0: 0 <= z <= 1 and 0 <= e0 <= 83886140 and "
    "-1447 + o - 16e0 + 32*floor((e0)/2) - 64*floor((e0)/4) + 128*floor((e0)/8) - "
    "512*floor((e0)/32) + 1024*floor((e0)/64) <= 2048*floor((e0)/128) <= -1440 + o - 16e0 + "
    "32*floor((e0)/2) - 64*floor((e0)/4) + 128*floor((e0)/8) - 512*floor((e0)/32) + "
    "1024*floor((e0)/64)) }";

TEST(RelationBytes, AByteThatASearchDoesNotReachInTimeIsNotDenied) {
  const auto bytes = RelationBytes::read(relation_of(bits_of_a_product), {1, 1, 2});
  ASSERT_TRUE(bytes.has_value());
  EXPECT_FALSE(bytes->complete());
  const int64_t x = 2 * (1 << 24) + 24;
  EXPECT_TRUE(bytes->contains(0, (x | 180) * 8));
  EXPECT_TRUE(bytes->contains(1, (x | 180) * 8 + 7));
  EXPECT_FALSE(bytes->contains(0, x * 8));
}

// Ten bytes, in sums of which some pass 64 bits.
TEST(RelationBytes, SumsMayPass64Bits) {
  const auto bytes = RelationBytes::read(
      relation_of(
          "{ B[x, y, z = 0] -> A[o] : x = 0 and y = 0 and "
          "1099528404992*floor((402301648899 + 412323151874x + 366509468331o)/1099528404992) <= "
          "-697226756091 + 412323151874x + 366509468331o and "
          "-697226756102 + 412323151875x - 5y + 366509468332o <= "
          "1099528404995*floor((402301648899 + 412323151874x + 366509468331o)/1099528404992) <= "
          "-697226756098 + 412323151875x - 5y + 366509468332o }"),
      {1, 1, 1});
  ASSERT_TRUE(bytes.has_value());
  EXPECT_TRUE(bytes->contains(0, -10'003'132'186'639));
  EXPECT_TRUE(bytes->contains(0, -4'505'490'161'676));
  EXPECT_FALSE(bytes->contains(0, -15'775'656'312'859));
}

}  // namespace
}  // namespace sluice::analysis::random
