// The cells of an edge table's picture.
#include "tools/view/pattern.hpp"

#include <gtest/gtest.h>

#include "tools/handwritten_run.hpp"

namespace sluice::tools {
namespace {

uint64_t edges_in(const Pattern& pattern) {
  uint64_t edges = 0;
  for (const auto& row : pattern.rows) {
    for (const Pattern::Run& run : row)
      edges += run.length * run.edges;
  }
  return edges;
}

TEST(Pattern, OfAFewBlocksHasACellForEach) {
  const Pattern pattern = pattern_of(testing::one_to_one(5));
  EXPECT_EQ(pattern.columns, 5u);
  ASSERT_EQ(pattern.rows.size(), 5u);
  for (uint64_t i = 0; i < 5; ++i) {
    ASSERT_EQ(pattern.rows[i].size(), 1u);
    EXPECT_EQ(pattern.rows[i][0].first, i);
    EXPECT_EQ(pattern.rows[i][0].length, 1u);
    EXPECT_EQ(pattern.rows[i][0].edges, 1u);
  }
}

TEST(Pattern, OfManyBlocksCountsTheEdgesOfEachCell) {
  const Pattern pattern = pattern_of(testing::all(1025, 600));
  EXPECT_EQ(pattern.masters_per_cell, 3u);
  EXPECT_EQ(pattern.slaves_per_cell, 2u);
  EXPECT_EQ(pattern.columns, 342u);
  ASSERT_EQ(pattern.rows.size(), 300u);
  for (const auto& row : pattern.rows) {
    ASSERT_EQ(row.size(), 2u);  // the last cell holds two masters
    EXPECT_EQ(row[0].length, 341u);
    EXPECT_EQ(row[0].edges, 6u);
    EXPECT_EQ(row[1].edges, 4u);
  }
  EXPECT_EQ(edges_in(pattern), 1025u * 600);
}

TEST(Pattern, LosesNoEdgeOfALastRowThatIsNotFull) {
  EXPECT_EQ(edges_in(pattern_of(testing::one_to_one(1537))), 1537u);
}

}  // namespace
}  // namespace sluice::tools
