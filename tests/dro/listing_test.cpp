// Lists of bytes and of edges, against isl and against enumeration.
#include <random>
#include <set>

#include <gtest/gtest.h>
#include <isl/set.h>

#include "dro/brute_force.hpp"
#include "dro/edges/block_bytes.hpp"
#include "dro/edges/edge_drawing.hpp"
#include "dro/edges/edge_forms.hpp"
#include "dro/launches/access_template.hpp"
#include "relation/byte_set.hpp"

namespace sluice::dro::testing {
namespace {

std::vector<std::set<long>> bytes_of(const dro::BlockBytes& listed) {
  std::vector<std::set<long>> blocks(listed.blocks());
  for (uint32_t block = 0; block < listed.blocks(); ++block) {
    for (const Range& range : listed.of(block)) {
      for (int64_t byte = range.begin; byte < range.end; ++byte)
        blocks[block].insert(byte);
    }
  }
  return blocks;
}

ByteIntervals random_intervals(Generator& random) {
  std::vector<Range> ranges;
  for (long i = random.pick(0, 12); i > 0; --i) {
    const long first = random.pick(0, 60);
    ranges.push_back({first, first + random.pick(1, 7)});
  }
  return ByteIntervals(std::move(ranges));
}

TEST(Listing, OfRandomAccessesIsWhatTheirBlocksTouch) {
  const IslContext context;
  for (uint32_t seed = 0; seed < 300; ++seed) {
    Generator generator(seed);
    const RandomKernel kernel = generator.kernel(1, 64);
    const Dim3& grid = kernel.footprint.shape.grid;
    const Relation& relation = kernel.footprint.arguments[0].reads.relation;
    if (relation.empty()) continue;
    const auto source = AccessTemplate::make(context, relation, 0);
    ASSERT_TRUE(source) << relation;
    std::vector<ByteRun> runs;
    Budget budget({1 << 16, 1 << 24});
    ASSERT_TRUE((*source)->list({}, grid, budget, runs)) << relation;
    const dro::BlockBytes listed(static_cast<uint32_t>(grid.count()), runs);
    EXPECT_EQ(bytes_of(listed), kernel.arguments[0].reads) << "seed " << seed << ": " << relation;
  }
}

TEST(Listing, OfAFamilyIsThatOfEachOfItsValues) {
  const IslContext context;
  const std::string text =
      "[n, p] -> { B[x, y, z] -> A[o] : 0 <= x < 6 and 0 <= y < 5 and z = 0 and exists (e: 0 <= e "
      "< 4 and 4x + e > p and 8x + 2e <= 64 and 4 n (4x + e) <= o < 4 n (4x + e) + 4) or (z = 0 "
      "and y = 0 and 0 <= x < 6 and 4p <= o < 4p + 4 and (x + p) mod 3 = 1) }";
  // n is a coefficient, so it is put in as text; p stays a parameter.
  std::string in_p = text;
  for (size_t at = in_p.find(" n "); at != std::string::npos; at = in_p.find(" n "))
    in_p.replace(at, 3, " * 10 * ");
  const Dim3 grid{6, 5, 1};
  std::vector<int64_t> values = {10, 0};
  const auto family = AccessTemplate::make(context, relation_of(in_p, {"n", "p"}), 2);
  ASSERT_TRUE(family) << family.error().line();
  for (int64_t p = 0; p < 26; ++p) {
    values[1] = p;
    std::vector<ByteRun> runs;
    Budget budget(Budget::unlimited);
    ASSERT_TRUE((*family)->list(values, grid, budget, runs));
    const dro::BlockBytes listed(30, runs);
    const auto relation = (*family)->at(values, grid, budget);
    ASSERT_TRUE(relation) << relation.error().line();
    EXPECT_EQ(isl_map_dim(relation->get(), isl_dim_param), 0);
    const ByteIntervals all = listed.all();
    EXPECT_TRUE(yes(set_of(context, all, budget).is_equal(relation->range()))) << "p = " << p;
    for (uint32_t block = 0; block < 30; ++block) {
      const isl::set one(context.get(), "{ B[" + std::to_string(block % 6) + ", " +
                                            std::to_string(block / 6) + ", 0] }");
      const auto bytes = listed.of(block);
      const ByteIntervals row(std::vector<Range>(bytes.begin(), bytes.end()));
      EXPECT_TRUE(
          yes(set_of(context, row, budget).is_equal(relation->intersect_domain(one).range())))
          << "p = " << p << ", block " << block;
    }
  }
}

TEST(Listing, EndsAtItsLimitsAndAtBlocksOutsideTheGrid) {
  const IslContext context;
  const auto source = AccessTemplate::make(context, relation_of(chunks(100, 8, 8)), 0);
  ASSERT_TRUE(source);
  std::vector<ByteRun> runs;
  Budget unlimited(Budget::unlimited), few_steps({50, UINT64_MAX}), few_bytes({UINT64_MAX, 50});
  EXPECT_TRUE((*source)->list({}, {100, 1, 1}, unlimited, runs));
  EXPECT_EQ(runs.size(), 100u);
  EXPECT_FALSE((*source)->list({}, {100, 1, 1}, few_steps, runs));
  EXPECT_FALSE((*source)->list({}, {100, 1, 1}, few_bytes, runs));
  EXPECT_FALSE((*source)->list({}, {99, 1, 1}, unlimited, runs));
}

TEST(Listing, AFootprintMustGiveAValueToEveryParameter) {
  const IslContext context;
  const Relation rows = relation_of("[n] -> { B[x, y, z] -> A[o] : o = n and x = y = z = 0 }");
  const auto source = AccessTemplate::make(context, rows, 0);
  ASSERT_FALSE(source);
  EXPECT_NE(source.error().what.find("no value for a parameter"), std::string::npos);
}

TEST(Listing, SetsOfBytesObeyTheSameRulesAsIsls) {
  const IslContext context;
  Budget budget(Budget::unlimited);
  Generator random(7);
  for (int round = 0; round < 300; ++round) {
    const ByteIntervals a = random_intervals(random), b = random_intervals(random);
    const isl::set for_a = set_of(context, a, budget), for_b = set_of(context, b, budget);
    ASSERT_EQ(ByteSet(for_a).hull(), a.hull());
    EXPECT_EQ(a.meets(b), !yes(for_a.intersect(for_b).is_empty()));
    EXPECT_TRUE(yes(set_of(context, a.without(b), budget).is_equal(for_a.subtract(for_b))));
    // The same through ByteSet, with one side listed and one not.
    const ByteSet listed(a), unlisted(for_b);
    EXPECT_EQ(listed.meets(unlisted, context, budget), a.meets(b));
    EXPECT_TRUE(
        listed.without(unlisted, context, budget).equals(ByteSet(a.without(b)), context, budget));
    EXPECT_EQ(listed.equals(unlisted, context, budget), a == b);
  }
}

// The inside of an array of 40 planes of 30 rows of 64 bytes, and what is left around it.
TEST(Listing, OfRegularRowsIsAFewPiecesForIsl) {
  const IslContext context;
  Budget budget(Budget::unlimited);
  std::vector<Range> rows;
  for (int64_t plane = 1; plane < 39; ++plane) {
    for (int64_t row = 1; row < 29; ++row) {
      const int64_t begin = 64 * (30 * plane + row);
      rows.push_back({begin + 4, begin + 60});
    }
  }
  const ByteIntervals inside(std::move(rows));
  const ByteIntervals around = ByteIntervals({{0, 64 * 30 * 40}}).without(inside);
  const isl::set all(context.get(),
                     "{ A[o] : exists k, l : 1 <= k < 39 and 1 <= l < 29 and 1920 k + 64 l + 4 <= "
                     "o < 1920 k + 64 l + 60 }");
  EXPECT_TRUE(yes(set_of(context, inside, budget).is_equal(all)));
  EXPECT_TRUE(
      yes(set_of(context, around, budget).is_equal(byte_set(context, {0, 76800}).subtract(all))));
  for (const ByteIntervals* bytes : {&inside, &around})
    EXPECT_LE(isl_set_n_basic_set(set_of(context, *bytes, budget).get()), 8);
}

// The tracker draws small launches from lists; what isl composes and draws for them is the same.
TEST(Listing, EdgesAreTheTableThatIslDraws) {
  IslContext context;
  Budget budget(Budget::unlimited);
  std::map<size_t, int> forms;
  for (uint32_t seed = 0; seed < 150; ++seed) {
    Generator generator(seed);
    const RandomKernel master = generator.kernel(1, 64), slave = generator.kernel(1, 64);
    const Relation& writes = master.footprint.arguments[0].must_writes.relation;
    const Relation& reads = slave.footprint.arguments[0].reads.relation;
    if (writes.empty() || reads.empty()) continue;
    const Dim3 &from = master.footprint.shape.grid, &to = slave.footprint.shape.grid;
    const auto lister = [&](const Relation& relation, const Dim3& grid) {
      std::vector<ByteRun> runs;
      EXPECT_TRUE((*AccessTemplate::make(context, relation, 0))->list({}, grid, budget, runs));
      return dro::BlockBytes(static_cast<uint32_t>(grid.count()), runs);
    };
    const dro::BlockBytes earlier = lister(writes, from), later = lister(reads, to);
    EdgeRows rows(from, to);
    ASSERT_TRUE(rows.add(later, earlier, ByteIntervals({{0, 41}}), budget));
    EdgeTable listed = std::move(rows).table();
    const isl::map edges = map_of(context.get(), reads)
                               .apply_range(map_of(context.get(), writes)
                                                .intersect_range(byte_set(context, {0, 41}))
                                                .reverse());
    ASSERT_EQ(listed.edge_count == 0, yes(edges.is_empty())) << "seed " << seed;
    if (listed.edge_count == 0) continue;
    listed = closed_form(std::move(listed), budget);
    EXPECT_EQ(listed, draw_edges(context, edges, from, to, budget)) << "seed " << seed;
    ++forms[listed.form.index()];
  }
  // The test has seen each form but that of strides, which lists never give.
  EXPECT_EQ(forms.size(), std::variant_size_v<EdgeForm> - 1);
}

}  // namespace
}  // namespace sluice::dro::testing
