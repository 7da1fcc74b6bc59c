// Bytes of blocks as rows and columns, and as formulas over all blocks.
#include "tools/explain/region.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "relation_text.hpp"
#include "tools/explain/access_picture.hpp"
#include "tools/explain/words.hpp"

namespace sluice::tools {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

TEST(Region, RowsAndPlanesAreReadOffTheDistancesOfRuns) {
  const ByteRuns cross = {{260, 264}, {512, 524}, {768, 780}, {1028, 1032}};
  EXPECT_THAT(likely_pitches(cross), ElementsAre(Pitches{256}, Pitches{}));
  EXPECT_EQ(*box_of(cross, {256}), (Box{{1, 5}, {0, 12}}));
  ByteRuns cube;
  for (int plane = 0; plane < 3; ++plane) {
    for (int row = 0; row < 4; ++row)
      cube.push_back({plane * 1000 + row * 100 + 8, plane * 1000 + row * 100 + 16});
  }
  EXPECT_EQ(likely_pitches(cube).front(), (Pitches{1000, 100}));
  EXPECT_EQ(*box_of(cube, {1000, 100}), (Box{{0, 3}, {0, 4}, {8, 16}}));
}

TEST(Region, ARunPastTheEndOfARowHasNoBoxOfThoseRows) {
  EXPECT_FALSE(box_of({{250, 262}}, {256}));
  EXPECT_EQ(*box_of({{-10, -2}}, {256}), (Box{{-1, 0}, {246, 254}}));
}

constexpr const char* own_row_and_pivot =
    "{ B[x, y, z = 0] -> A[o] : 0 <= x <= 3 and 0 <= y <= 3 and exists r, c : o = 256r + c and "
    "64x <= c < 64x + 64 and (r = 0 or 16y <= r < 16y + 16) }";

Result<AccessPicture> picture_of_text(const std::string& text, const Dim3& grid) {
  return picture_of(sluice::testing::relation_of(text), grid);
}

AccessWords reads(const Dim3& grid) {
  return {{"read", "reads"}, grid, 4, {{"n", 64}}};
}

TEST(BlockPattern, IsAFormulaThatHoldsForEveryBlock) {
  const auto picture = picture_of_text(own_row_and_pivot, {4, 4, 1});
  ASSERT_TRUE(picture) << picture.error().line();
  const std::string text = describe(*picture, reads({4, 4, 1}));
  EXPECT_THAT(text, HasSubstr("Block (x, y) reads rows 0 to 16y + 15, columns 16x to 16x + 15."));
  EXPECT_THAT(text, HasSubstr("A row is 64 elements (n)."));
  EXPECT_THAT(text, HasSubstr("Block (2, 2) reads 1088 bytes of the 3072 in that box."));
  EXPECT_THAT(text, HasSubstr("It shares bytes with blocks (2, 0), (2, 1), (2, 3)."));
}

TEST(BlockPattern, IsNoneWhereBlocksFollowNoFormula) {
  const auto picture = picture_of_text(
      "{ B[x, y = 0, z = 0] -> A[o] : (x = 0 and 0 <= o < 8) or (x = 1 and 100 <= o < 104) or "
      "(x = 2 and 20 <= o < 24) or (x = 3 and 7 <= o < 9) }",
      {4, 1, 1});
  ASSERT_TRUE(picture) << picture.error().line();
  EXPECT_FALSE(picture->pattern);
  EXPECT_THAT(describe(*picture, reads({4, 1, 1})),
              HasSubstr("Block (2) reads 4 bytes in bytes [20, 24)"));
}

TEST(BlockPattern, OfAWideBlockIsFoundWithoutListingItsBytes) {
  const auto picture = picture_of_text(
      "{ B[x, y = 0, z = 0] -> A[o] : 0 <= x <= 31 and 0 <= o < 67108864 and "
      "16384*floor((o - 512x)/16384) >= -511 - 512x + o }",
      {32, 1, 1});
  ASSERT_TRUE(picture) << picture.error().line();
  EXPECT_TRUE(picture->runs.empty());
  EXPECT_THAT(describe(*picture, {{"read", "reads"}, {32, 1, 1}, 4, {}}),
              HasSubstr("Block (x) reads rows 0 to 4095, columns 128x to 128x + 127. A row is 4096 "
                        "elements. Block (16) reads 2097152 bytes."));
}

TEST(BlockPattern, TellsSharedBytesFromOwnOnes) {
  const auto own = picture_of_text(
      "{ B[x, y = 0, z = 0] -> A[o] : 0 <= x <= 3 and 8x <= o < 8x + 8 }", {4, 1, 1});
  EXPECT_THAT(describe(*own, reads({4, 1, 1})), HasSubstr("No two blocks read the same byte."));
  const auto all =
      picture_of_text("{ B[x, y = 0, z = 0] -> A[o] : 0 <= x <= 3 and 0 <= o < 8 }", {4, 1, 1});
  const std::string text = describe(*all, reads({4, 1, 1}));
  EXPECT_THAT(text, HasSubstr("Every block reads elements 0 to 1."));
  EXPECT_THAT(text, HasSubstr("All blocks read the same bytes."));
  EXPECT_THAT(text, Not(HasSubstr("No two blocks")));
}

}  // namespace
}  // namespace sluice::tools
