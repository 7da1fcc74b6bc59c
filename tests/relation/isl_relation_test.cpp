// Rows of integers are the relations that isl made them of.
#include "relation/isl_relation.hpp"

#include <random>
#include <string>

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <isl/map.h>

#include "relation_text.hpp"

namespace sluice::testing {
namespace {

void expect_same_again(const IslContext& context, const std::string& text,
                       const std::vector<std::string>& parameters = {}) {
  const isl::map relation(context.get(), text);
  const auto rows = rows_of(relation, parameters);
  ASSERT_TRUE(rows) << text;
  EXPECT_TRUE(rows->is_whole()) << text;
  EXPECT_TRUE(yes(map_of(context.get(), *rows, parameters).is_equal(relation))) << text;
}

TEST(IslRelation, RowsSayWhatFootprintsSay) {
  const IslContext context;
  for (const char* text : {
           "{ B[x, y, z] -> A[o] }",
           "{ B[x, y, z] -> A[o] : false }",
           "{ B[x, y = 0, z = 0] -> A[o] : 0 <= x <= 15 and 4x <= o <= 3 + 4x }",
           "{ B[x, y = 2x, z = 1 + x] -> A[o = 4 + 8y] : 0 <= x < 9 }",
           "{ B[x, y, z] -> A[o] : (x >= 0 and o = 4x) or (x < 0 and o = -8x) }",
           "{ B[x, y, z = 0] -> A[o] : -127 - 128x + o <= 1024*floor((4 + o)/1024) <= -128x + o "
           "and "
           "1024*floor((4 + o)/1024) <= -4 + o and 0 <= o <= 5000 }",
           "{ B[x, y, z = 0] -> A[o] : exists (e0, e1: o = 12e0 + 5e1 and 0 <= e1 <= 1 and 0 <= e0 "
           "<= 9) }",
           "{ B[x, y, z] -> A[o] : (x + o) mod 4 = 0 }",
           "{ B[x, y, z] -> A[o] : o = 99999999999999x }",
       }) {
    expect_same_again(context, text);
  }
}

TEST(IslRelation, ParametersStandInTheOrderOfTheirNames) {
  const IslContext context;
  const std::string text = "[n, p] -> { B[x, y, z] -> A[o] : n < o <= p + 3x }";
  expect_same_again(context, text, {"p", "other", "n"});
  const auto rows = rows_of(isl::map(context.get(), text), std::vector<std::string>{"p", "n"});
  ASSERT_TRUE(rows);
  // One of: o - n - 1 >= 0 and p + 3x - o >= 0.
  const std::vector<Relation::Row> either = {{-1, 0, -1, 0, 0, 0, 1}, {0, 1, 0, 3, 0, 0, -1}};
  ASSERT_EQ(rows->pieces.size(), 1u);
  EXPECT_TRUE(rows->pieces[0].at_least == either ||
              rows->pieces[0].at_least == (std::vector<Relation::Row>{either[1], either[0]}))
      << text_of(*rows);
  EXPECT_EQ(rows_of(isl::map(context.get(), text))->parameters, 2u);
}

TEST(IslRelation, WhatIsNoSuchRelationHasNoRows) {
  const IslContext context;
  EXPECT_FALSE(rows_of(isl::map()));
  for (const char* text : {"{ B[x, y] -> A[o] : o = 4x }", "{ B[x, y, z] -> A[o, p] : o = 4x }",
                           "{ B[x, y, z] -> A[o] : o = 99999999999999999999x }"}) {
    EXPECT_FALSE(rows_of(isl::map(context.get(), text))) << text;
  }
  EXPECT_FALSE(rows_of(isl::map(context.get(), "[n] -> { B[x, y, z] -> A[o] : o = n }"),
                       std::vector<std::string>{"p"}));
}

TEST(IslRelation, RowsWithoutAllTheirColumnsAreNotWhole) {
  Relation relation = relation_of("{ B[x, y, z] -> A[o] : o = 4x }");
  EXPECT_TRUE(relation.is_whole());
  relation.pieces[0].equal[0].pop_back();
  EXPECT_FALSE(relation.is_whole());
}

// random_text() is a union of pieces, each with bounds and some divisions.
std::string random_text(std::mt19937& random) {
  const auto pick = [&](int least, int most) {
    return std::uniform_int_distribution<int>(least, most)(random);
  };
  const auto form = [&] {
    return fmt::format("{}x + {}y + {}z + {}o + {}", pick(-3, 3), pick(-3, 3), pick(-3, 3),
                       pick(-2, 2), pick(-20, 20));
  };
  std::string text = "{ B[x, y, z] -> A[o] : ";
  const int pieces = pick(1, 3);
  for (int piece = 0; piece < pieces; ++piece) {
    text += piece == 0 ? "(" : " or (";
    text += "0 <= x <= 6 and 0 <= y <= 5 and 0 <= z <= 2 and 0 <= o <= 60";
    const int comparisons = pick(1, 4);
    for (int i = 0; i < comparisons; ++i) {
      const char* const relation = pick(0, 5) == 0 ? "=" : (pick(0, 1) == 0 ? "<=" : ">");
      const std::string division = fmt::format("{}*floor(({})/{})", pick(1, 9), form(), pick(2, 9));
      text += fmt::format(" and {} {} {}", form(), relation, pick(0, 1) == 0 ? form() : division);
    }
    text += ")";
  }
  return text + " }";
}

TEST(IslRelation, RowsOfRandomRelationsAreTheSameRelations) {
  const IslContext context;
  std::mt19937 random(20261122);
  for (int i = 0; i < 300; ++i)
    expect_same_again(context, random_text(random));
}

}  // namespace
}  // namespace sluice::testing
