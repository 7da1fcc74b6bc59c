// Edge tables: what workers read of them, block by block and in runs of blocks.
#include <algorithm>
#include <set>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "dro/edges/edge_drawing.hpp"
#include "dro/handwritten.hpp"

namespace sluice::dro::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

std::set<uint32_t> masters_of_run(const EdgeTable& table, uint32_t first, uint32_t count) {
  std::set<uint32_t> blocks;
  for_each_master_range(table, first, count, [&](uint32_t begin, uint32_t end) {
    EXPECT_LE(begin, end);
    EXPECT_LT(end, table.master_grid.count());
    for (uint32_t block = begin; block <= end; ++block)
      blocks.insert(block);
  });
  return blocks;
}

// check() asks for every run of blocks; it must hold the masters of its blocks, and where the table
// is exact on runs no others, else none before or behind. It returns the edges counted block by
// block.
uint64_t check(const EdgeTable& table, bool is_exact = true) {
  const auto blocks = static_cast<uint32_t>(table.slave_grid.count());
  uint64_t edges = 0;
  for (uint32_t first = 0; first < blocks; ++first) {
    edges += masters_of(table, first).size();
    std::set<uint32_t> expected;
    for (uint32_t count = 1; first + count <= blocks; ++count) {
      for (uint32_t block : masters_of(table, first + count - 1))
        expected.insert(block);
      const std::set<uint32_t> found = masters_of_run(table, first, count);
      if (is_exact || found.empty()) {
        EXPECT_EQ(found, expected) << first << " + " << count;
        continue;
      }
      EXPECT_TRUE(std::ranges::includes(found, expected)) << first << " + " << count;
      EXPECT_EQ(*found.begin(), *expected.begin()) << first << " + " << count;
      EXPECT_EQ(*found.rbegin(), *expected.rbegin()) << first << " + " << count;
    }
  }
  EXPECT_EQ(edges, table.edge_count);
  return edges;
}

EdgeTable stencil_table(uint32_t size, uint32_t block) {
  Driver driver;
  const BufferId a = driver.buffer(uint64_t{size} * size * 4),
                 b = driver.buffer(uint64_t{size} * size * 4);
  driver.launch(stencil(size, block), {{a, 0}, {b, 0}});
  const auto found = driver.launch(stencil(size, block), {{b, 0}, {a, 0}});
  return driver.tracker().edge_table(found.at(0).dro->edges);
}

TEST(EdgeTable, NeighboursOfAStencil) {
  const EdgeTable table = stencil_table(80, 16);
  ASSERT_EQ(form_name(table), "neighbours");
  EXPECT_EQ(check(table), 105u);  // 25 + 2 (50 - 10)
  EXPECT_THAT(masters_of(table, 0), ElementsAre(0, 1, 5));
  EXPECT_THAT(masters_of(table, 12), ElementsAre(7, 11, 12, 13, 17));
}

TEST(EdgeTable, NeighboursInBoxesThatAreNotTheGrid) {
  const NeighbourEdges edges{{{1, 0, 0, 3, 2, 1}, {0, 1, 0, 3, 2, 1}},
                             {{0, 0, -1}, {-1, 0, 0}, {0, 0, 0}, {2, 0, 0}}};
  const EdgeTable table = make_table({4, 3, 2}, {5, 3, 2}, edges);
  EXPECT_EQ(table.edge_count, 3u * 2 * 1 + 2 * 2 * 2 + 3 * 2 * 2 + 2 * 2 * 2);
  check(table, false);  // of whole rows it has all that lies between
  EXPECT_THAT(masters_of(table, 0), IsEmpty());
  EXPECT_THAT(masters_of(table, 4 + 5), IsEmpty());
}

TEST(EdgeTable, AllOfABox) {
  AllEdges edges{{{1, 0, 0, 2, 2, 1}, {1, 0, 0, 2, 1, 0}}};
  const Dim3 masters = {4, 3, 2}, slaves = {3, 2, 1};
  const EdgeTable table = make_table(masters, slaves, edges);
  EXPECT_EQ(table.edge_count, 12u * 4);
  check(table);
  EXPECT_THAT(masters_of(table, 0), IsEmpty());
  edges.boxes.master = BlockBox::of_grid(masters);
  int ranges = 0;
  for_each_master_range(make_table(masters, slaves, edges), 1, 1,
                        [&](uint32_t first, uint32_t last) {
                          EXPECT_EQ(first, 0u);
                          EXPECT_EQ(last, 23u);
                          ++ranges;
                        });
  EXPECT_EQ(ranges, 1);
}

// Only a changed journal holds a table that leads to blocks that there are not.
TEST(EdgeTable, IsWholeWhereItLiesInItsGrids) {
  const Dim3 grid = {4, 3, 1};
  const BlockBox all = BlockBox::of_grid(grid), outside = {0, 0, 0, 4, 2, 0};
  const std::vector<std::pair<EdgeForm, bool>> forms = {
      {AllEdges{{all, all}}, true},
      {AllEdges{{outside, all}}, false},
      {NeighbourEdges{{all, all}, {{0, 0, 0}}}, true},
      {NeighbourEdges{{all, outside}, {{0, 0, 0}}}, false},
      {RangeEdges{std::vector<uint32_t>(13, 0), {}}, true},
      {RangeEdges{std::vector<uint32_t>(12, 0), {}}, false},
      {RangeEdges{{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1}, {{11, 11}}}, true},
      {RangeEdges{{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1}, {{11, 12}}}, false},
      {RangeEdges{{0, 2, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1}, {{1, 1}}}, false},
  };
  for (size_t i = 0; i < forms.size(); ++i)
    EXPECT_EQ(is_whole({grid, grid, forms[i].first, 0}), forms[i].second) << i;
}

TEST(EdgeTable, RangesOfATransposeAfterLines) {
  // 16 x 16 floats: the master writes lines, the slave reads tiles of 4 x 4 of the transpose.
  Driver driver;
  const BufferId x = driver.buffer(1024);
  driver.launch(footprint("lines", {16}, {writes(chunks(16, 64, 64))}), {{x, 0}});
  const auto found = driver.launch(
      footprint(
          "tiles", {4, 4},
          {reads("{ B[x, y, z] -> A[o] : exists i, j : 0 <= x < 4 and 0 <= y < 4 and z = 0 and "
                 "4x <= i < 4x + 4 and 4y <= j < 4y + 4 and 64i + 4j <= o < 64i + 4j + 4 }")}),
      {{x, 0}});
  const EdgeTable& table = driver.tracker().edge_table(found.at(0).dro->edges);
  ASSERT_EQ(form_name(table), "ranges");
  EXPECT_EQ(check(table), 64u);
  EXPECT_THAT(masters_of(table, 6), ElementsAre(8, 9, 10, 11));
}

TEST(EdgeTable, RangesWithGapsAndEmptyRows) {
  // Slave block x reads every third chunk, and only even blocks read at all.
  Driver driver;
  const BufferId x = driver.buffer(1024);
  driver.launch(footprint("w", {16}, {writes(chunks(16, 64, 64))}), {{x, 0}});
  const auto found = driver.launch(
      footprint(
          "r", {6},
          {reads("{ B[x, y, z] -> A[o] : exists k, h : 0 <= x < 6 and x = 2h and y = 0 and "
                 "z = 0 and 0 <= k < 4 and 192k + 64x <= o < 192k + 64x + 8 and o < 1024 }")}),
      {{x, 0}});
  const EdgeTable& table = driver.tracker().edge_table(found.at(0).dro->edges);
  ASSERT_EQ(form_name(table), "ranges");
  EXPECT_EQ(check(table), 12u);
  EXPECT_THAT(masters_of(table, 0), ElementsAre(0, 3, 6, 9));
  EXPECT_THAT(masters_of(table, 1), IsEmpty());
  EXPECT_THAT(masters_of(table, 4), ElementsAre(4, 7, 10, 13));
}

TEST(EdgeTable, DrawnPastItsBudgetEverythingWaitsForEverything) {
  IslContext context;
  const isl::map edges(context.get(),
                       "{ B[x, y, 0] -> B[a, b, 0] : 0 <= x, a < 7 and 0 <= y, b < 5 and "
                       "(x + 2 a) mod 3 = 0 and (y + b) mod 2 = 1 and x + y >= a }");
  const Dim3 grid = {7, 5, 1};
  Budget enough(Budget::unlimited);
  const EdgeTable exact = draw_edges(context, edges, grid, grid, enough);
  EXPECT_EQ(form_name(exact), "ranges");
  check(exact);
  Budget few({100, UINT64_MAX});
  const EdgeTable widened = draw_edges(context, edges, grid, grid, few);
  EXPECT_TRUE(few.is_spent());
  EXPECT_EQ(form_name(widened), "all");
  EXPECT_EQ(check(widened), 35u * 35u);
  // The context is none the worse for it.
  EXPECT_EQ(draw_edges(context, edges, grid, grid, enough), exact);
  EXPECT_FALSE(enough.is_spent());
}

TEST(EdgeTableStore, KeepsEachContentOnce) {
  const EdgeTable table;
  EdgeTable other = table;
  other.edge_count = 1;
  EdgeTableStore store;
  bool added = false;
  Budget budget(Budget::unlimited);
  EXPECT_EQ(store.add(table, added, budget), 0u);
  EXPECT_TRUE(added);
  EXPECT_EQ(store.add(other, added, budget), 1u);
  EXPECT_TRUE(added);
  EXPECT_EQ(store.add(table, added, budget), 0u);
  EXPECT_FALSE(added);
}

// Row b of so many waits for block (b * 7) % blocks: no closed form.
EdgeTable scattered(uint32_t blocks) {
  RangeEdges edges{{0}, {}};
  for (uint32_t block = 0; block < blocks; ++block) {
    edges.add({block * 7 % blocks, block * 7 % blocks});
    edges.end_row();
  }
  return make_table({blocks, 1, 1}, {blocks, 1, 1}, std::move(edges));
}

TEST(EdgeTableStore, WidensTablesThatWouldTakeTooMuchSpace) {
  EdgeTableStore store({.table_bytes = 1000, .all_bytes = 3000});
  bool added = false;
  Budget budget(Budget::unlimited);
  const EdgeTableId small = store.add(scattered(50), added, budget);
  EXPECT_EQ(store.table(small), scattered(50));
  const EdgeTableId large = store.add(scattered(100), added, budget);  // 1204 bytes
  EXPECT_EQ(form_name(store.table(large)), "all");
  EXPECT_EQ(store.table(large).edge_count, 10'000u);
  for (uint32_t slave = 0; slave < 100; ++slave)
    EXPECT_EQ(masters_of(store.table(large), slave).size(), 100u);
  for (uint32_t blocks = 51; blocks < 60; ++blocks)
    store.add(scattered(blocks), added, budget);
  EXPECT_EQ(store.table(store.add(scattered(52), added, budget)), scattered(52));
  EXPECT_FALSE(added);
  EXPECT_EQ(form_name(store.table(store.add(scattered(60), added, budget))), "all");
}

}  // namespace
}  // namespace sluice::dro::testing
