// Pieces of a relation that are one piece, moved, become one.
#include "analysis/polly/translate_folding.hpp"

#include <memory>
#include <random>
#include <string>

#include <gtest/gtest.h>
#include <isl/ctx.h>
#include <isl/map.h>

#include "analysis/polly/block_relation.hpp"
#include "analysis/rewrite/isl_allowance.hpp"

namespace sluice::analysis {
namespace {

class TranslateFolding : public ::testing::Test {
 protected:
  isl::map map(const std::string& text) const { return isl::map(isl::ctx(context_.get()), text); }

  // expect_pieces() checks that folding keeps every point, and how many pieces it leaves.
  void expect_pieces(const std::string& text, int pieces) const {
    const isl::map relation = map(text);
    const isl::map folded = fold_translates(relation);
    EXPECT_TRUE(folded.is_equal(relation).is_true()) << text;
    EXPECT_EQ(isl_map_n_basic_map(folded.get()), pieces) << text;
    EXPECT_STREQ(isl_map_get_tuple_name(folded.get(), isl_dim_in), "B");
    EXPECT_STREQ(isl_map_get_tuple_name(folded.get(), isl_dim_out), "A");
  }

  std::unique_ptr<isl_ctx, decltype(&isl_ctx_free)> context_{isl_ctx_alloc(), isl_ctx_free};
};

std::string rows(int count, int step, int bytes, const std::string& place) {
  std::string text;
  for (int i = 0; i < count; ++i) {
    const std::string first = std::to_string(i * step) + " + " + place;
    text += (i == 0 ? "" : " or ") + ("(" + first + " <= o < " + first) + " + " +
            std::to_string(bytes) + ")";
  }
  return text;
}

TEST_F(TranslateFolding, RowsOfATileAreOnePiece) {
  const std::string blocks = "{ B[x, y, z] -> A[o] : 0 <= x < 15 and y = 0 and z = 0 and (";
  expect_pieces(blocks + rows(16, 1024, 64, "64x") + ") }", 1);
  expect_pieces(
      blocks + rows(16, 1024, 64, "64x") + " or " + rows(16, 1024, 64, "16384x + 15424") + ") }",
      2);
}

TEST_F(TranslateFolding, RowsOfRowsAreOnePiece) {
  std::string text = "{ B[x, y, z] -> A[o] : 0 <= x < 3 and 0 <= y < 2 and z = 0 and (";
  for (int i = 0; i < 4; ++i) {
    text += (i == 0 ? "" : " or ") + rows(4, 40, 4, std::to_string(1000 * i) + " + 200x + 5000y");
  }
  expect_pieces(text + ") }", 1);
}

// Columns of a matrix, as four copies of a loop's body leave them: where each piece begins is found
// without looking for a byte of it.
TEST_F(TranslateFolding, ColumnsOfAnUnrolledLoopCostLittle) {
  std::string text = "{ B[x, y, z] -> A[o] : 0 <= x < 12 and y = 0 and z = 0 and (";
  for (int copy = 0; copy < 4; ++copy) {
    text += std::string(copy == 0 ? "" : " or ") +
            "(exists (e, t : 0 <= e < 64 and 0 <= t < 64 and " + std::to_string(3072 * copy) +
            " + 12288e + 256x + 4t <= o <= 3 + 12288e + 256x + 4t + " +
            std::to_string(3072 * copy) + "))";
  }
  const isl::map relation = coalesced(map(text + ") }"));
  const IslAllowance before = isl_spent();
  const isl::map folded = fold_translates(relation);
  EXPECT_EQ(isl_map_n_basic_map(folded.get()), 1);
  EXPECT_LT(cost_since(before).steps, 60'000U);
}

TEST_F(TranslateFolding, IrregularPiecesStay) {
  expect_pieces(
      "{ B[x, y, z] -> A[o] : 0 <= x < 9 and y = 0 and z = 0 and (o = 64x or o = 64x + 4 or "
      "o = 64x + 12 or o = 64x + 36) }",
      4);
}

TEST_F(TranslateFolding, RandomPiecesKeepEveryPoint) {
  std::mt19937 random(1);
  const auto number = [&](int below) { return std::to_string(random() % unsigned(below)); };
  for (int round = 0; round < 60; ++round) {
    std::string text = "{ B[x, y, z] -> A[o] : 0 <= x < 6 and 0 <= y < 2 and z = 0 and (";
    const int rows_in_it = 1 + int(random() % 4);
    for (int i = 0; i < rows_in_it; ++i) {
      text += (i == 0 ? "" : " or ") +
              rows(1 + int(random() % 6), 1 + int(random() % 50), 1 + int(random() % 40),
                   number(300) + " + " + number(70) + "x + " + number(90) + "y");
    }
    const isl::map relation = map(text + ") }");
    EXPECT_TRUE(fold_translates(relation).is_equal(relation).is_true()) << text;
  }
}

}  // namespace
}  // namespace sluice::analysis
