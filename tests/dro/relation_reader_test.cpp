// The relations that are read here are the ones that isl reads, and the rest is left to isl.
#include "dro/relations/relation_reader.hpp"

#include <cstdlib>
#include <optional>
#include <random>
#include <string>

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <isl/map.h>

#include "dro/relations/relations.hpp"

namespace sluice::dro {
namespace {

// with_names() gives the tuples the names that isl reads.
isl::map with_names(const IslContext& context, const isl::map& relation) {
  return relation.set_tuple_id(isl::dim::in, isl::id::alloc(context.get(), "B", nullptr))
      .set_tuple_id(isl::dim::out, isl::id::alloc(context.get(), "A", nullptr));
}

void expect_read_as_by_isl(const IslContext& context, const std::string& text) {
  const std::optional<isl::map> read = read_relation(context.get(), text);
  ASSERT_TRUE(read) << text;
  EXPECT_TRUE(yes(with_names(context, *read).is_equal(isl::map(context.get(), text)))) << text;
}

TEST(RelationReader, ReadsWhatFootprintsSay) {
  const IslContext context;
  for (
      const char* text : {
          "{ B[x, y, z] -> A[o] }",
          "{ B[x, y = 0, z = 0] -> A[o] : 0 <= x <= 15 and 4x <= o <= 3 + 4x }",
          "{ B[x, y = 2x, z = 1 + x] -> A[o = 4 + 8y] : 0 <= x < 9 }",
          "{ B[x, y, z = 0] -> A[o] : x > 3 and x < 5 + y and -o >= -100 and y = 7 }",
          "{ B[x, y, z] -> A[o] : (x >= 0 and o = 4x) or (x < 0 and o = -8x) }",
          "{ B[x, y, z = 0] -> A[o] : -127 - 128x + o <= 1024*floor((4 + o)/1024) <= -128x + o and "
          "1024*floor((4 + o)/1024) <= -4 + o and 0 <= o <= 5000 }",
          "{ B[x, y, z = 0] -> A[o] : exists (e0 = floor((-x + o)/12): 12e0 = -x + o and 0 <= o <= "
          "100 and 0 <= x <= 4) }",
          "{ B[x, y, z = 0] -> A[o] : exists (e0, e1: o = 12e0 + 5e1 and 0 <= e1 <= 1 and 0 <= e0 "
          "<= 9) }",
          "{ B[x, y, z] -> A[o] : 0 <= x <= 7 and ((y >= 0 and o = x) or (y < 0 and o = 2x)) and "
          "(z = 1 or z = 3) and x <= 5 }",
          "{ B[x, y, z] -> A[o] : exists (e0 = floor((o)/4): 4e0 = o and (x = e0 or y = e0)) }",
      }) {
    expect_read_as_by_isl(context, text);
  }
}

TEST(RelationReader, LeavesOtherTextsToIsl) {
  const IslContext context;
  for (const char* text : {
           "",
           "{ }",
           "{ B[x, y, z] -> A[o] : false }",
           "{ B[x, y, z] -> A[o] : o = 4x",
           "{ B[x, y, z] -> A[o] : o = 4x } and more",
           "{ B[x, y, z] -> A[o] : o = 4w }",
           "{ B[x, y, z] -> A[o] : (o) mod 4 = 0 }",
           "{ B[x, y, z] -> A[o] : o = 4x; B[x, y, z] -> C[o] : o = 8x }",
           "{ B[x, y] -> A[o] : o = 4x }",
           "{ B[x, y, z] -> A[o, p] : o = 4x }",
           "{ B[x, y, z] -> A[o] : x, y >= 0 and o = 4x }",
           "{ B[x, y, z] -> A[o] : o = 99999999999999x }",
           "{ B[x, y, z] -> A[o] : o >= 4x and }",
           "{ B[x, y, z] -> A[o] : o }",
           "[n] -> { B[x, y, z] -> A[o] : 0 <= x < n and o = 4x }",
           "{ B[x, y, z] -> A[x] : 0 <= x <= 9 }",
           "{ B[x, y, x] -> A[o] : o = 4x }",
           "{ B[x, y, z] -> A[o = floor((x)/2)] : 0 <= x <= 9 }",
           "{ B[x, y, z] -> A[o] : (o = 4x or o = 8x ",
           "{ B[x, y, z] -> A[o] : (o = 4x or (o = 8x) ",
       }) {
    EXPECT_FALSE(read_relation(context.get(), text)) << text;
  }
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

TEST(RelationReader, ReadsWhatIslPrints) {
  const IslContext context;
  std::mt19937 random(20261122);
  int read = 0;
  for (int i = 0; i < 300; ++i) {
    const isl::map relation(context.get(), random_text(random));
    ASSERT_FALSE(relation.is_null());
    char* const text = isl_map_to_str(relation.get());
    const std::string printed = text;
    std::free(text);
    const std::optional<isl::map> again = read_relation(context.get(), printed);
    if (!again) continue;
    ++read;
    EXPECT_TRUE(yes(with_names(context, *again).is_equal(relation))) << printed;
  }
  // The others are empty, or say "mod".
  EXPECT_GT(read, 100);
}

}  // namespace
}  // namespace sluice::dro
