// Whether two blocks share bytes, beside all blocks and bytes tried one by one.
#include "runtime/faults/block_conflicts.hpp"

#include <algorithm>
#include <random>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "relation_text.hpp"

namespace sluice::runtime {
namespace {

using sluice::testing::relation_of;

constexpr Dim3 grid = {7, 3, 1};

// Affine is blocks (x, y) that touch bytes first + ax + by .. first + ax + by + length - 1.
struct Affine {
  int64_t a = 0, b = 0, first = 0, length = 0;

  Relation relation() const {
    return relation_of(fmt::format(
        "{{ B[x, y, z = 0] -> A[o] : 0 <= x <= 6 and 0 <= y <= 2 and {0} + {1}x + {2}y <= o < {0} "
        "+ {1}x + {2}y + {3} }}",
        first, a, b, length));
  }
  Range bytes(int64_t x, int64_t y) const {
    const int64_t begin = first + a * x + b * y;
    return {begin, begin + length};
  }
};

bool has(const Affine& affine, const BlockIndex& block, const Range& bytes, int64_t offset) {
  const Range own = affine.bytes(block.x, block.y);
  return own.begin + offset <= bytes.begin && bytes.end <= own.end + offset;
}

bool conflict(const Affine& a, const Affine& b, int64_t shift) {
  const int64_t blocks = grid.x * grid.y;
  for (int64_t i = 0; i < blocks; ++i) {
    for (int64_t j = 0; j < blocks; ++j) {
      const Range left = a.bytes(i % grid.x, i / grid.x);
      Range right = b.bytes(j % grid.x, j / grid.x);
      right = {right.begin + shift, right.end + shift};
      if (i != j && left.meets(right)) return true;
    }
  }
  return false;
}

TEST(BlockConflicts, AreThoseThatTryingAllFinds) {
  std::mt19937 random(20261124);
  const auto drawn = [&](int low, int high) {
    return std::uniform_int_distribution<int>(low, high)(random);
  };
  BlockConflicts conflicts;
  int found = 0;
  for (int turn = 0; turn < 400; ++turn) {
    const Affine a{drawn(-6, 6), drawn(-30, 30), drawn(-9, 9), drawn(1, 5)};
    const Affine b = turn % 3 == 0 ? a : Affine{drawn(-6, 6), drawn(-30, 30), 0, drawn(1, 5)};
    const int64_t a_offset = drawn(-5, 5), b_offset = turn % 3 == 0 ? a_offset : drawn(-50, 50);
    const Relation left = a.relation(), right = b.relation();
    const auto answer = conflicts.find({&left, a_offset}, {&right, b_offset}, {}, grid);
    ASSERT_TRUE(answer.is_known);
    ASSERT_EQ(answer.conflict.has_value(), conflict(a, b, b_offset - a_offset)) << turn;
    if (!answer.conflict) continue;
    ++found;
    const auto& [first, second, bytes] = *answer.conflict;
    EXPECT_FALSE(bytes.empty());
    EXPECT_TRUE(first.x != second.x || first.y != second.y);
    EXPECT_TRUE(has(a, first, bytes, a_offset) && has(b, second, bytes, b_offset)) << turn;
  }
  EXPECT_GT(found, 50);
  EXPECT_LT(found, 350);
}

TEST(BlockConflicts, OfAFamilyDependOnItsParameters) {
  const std::vector<std::string> names = {"p0"};
  const Relation tiles = relation_of(
      "[p0] -> { B[x, y = 0, z = 0] -> A[o] : 0 <= x <= 6 and 8x <= o < 8x + p0 }", names);
  BlockConflicts conflicts;
  for (const int64_t width : {7, 8, 9}) {
    const std::vector<int64_t> values = {width};
    const auto answer = conflicts.find({&tiles, 0}, {&tiles, 0}, values, {7, 1, 1});
    EXPECT_EQ(answer.conflict.has_value(), width > 8) << width;
  }
}

TEST(BlockConflicts, OneBlockHasNone) {
  const Relation all = relation_of("{ B[x = 0, y = 0, z = 0] -> A[o] : 0 <= o < 64 }");
  BlockConflicts conflicts;
  EXPECT_FALSE(conflicts.find({&all, 0}, {&all, 0}, {}, {1, 1, 1}).conflict.has_value());
}

}  // namespace
}  // namespace sluice::runtime
