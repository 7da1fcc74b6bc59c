// Immediate post-dominators of small graphs with known answers.
#include "base/post_dominance.hpp"

#include <gtest/gtest.h>

namespace sluice {
namespace {

TEST(PostDominanceOfGraphs, MeetsAfterADiamond) {
  const PostDominance result({{1, 2}, {3}, {3}, {}});
  EXPECT_EQ(result.immediate(0), 3u);
  EXPECT_EQ(result.immediate(1), 3u);
  EXPECT_EQ(result.immediate(3), std::nullopt);
}

TEST(PostDominanceOfGraphs, HasNoneWherePathsEndApart) {
  const PostDominance result({{1, 2}, {}, {}});
  EXPECT_EQ(result.immediate(0), std::nullopt);
}

TEST(PostDominanceOfGraphs, LeavesALoopByItsExit) {
  // 0 -> 1 (header) -> 2 (body) -> 1; 1 -> 3.
  const PostDominance result({{1}, {2, 3}, {1}, {}});
  EXPECT_EQ(result.immediate(0), 1u);
  EXPECT_EQ(result.immediate(2), 1u);
  EXPECT_EQ(result.immediate(1), 3u);
}

TEST(PostDominanceOfGraphs, IgnoresWhatNeverEnds) {
  const PostDominance result({{1, 2}, {1}, {}});
  EXPECT_EQ(result.immediate(0), 2u);
  EXPECT_EQ(result.immediate(1), std::nullopt);
}

}  // namespace
}  // namespace sluice
