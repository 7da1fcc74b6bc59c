// What the compiler made of a kernel does not make its footprint wider.
#include <gtest/gtest.h>

#include "footprint_oracle.hpp"

namespace sluice::analysis::testing {
namespace {

TEST(CompiledForms, RemaindersOfUnrolledLoopsAreExact) {
  constexpr int length = 52;
  for (const int rows : {5, 7, 8}) {
    expect_exact("row_sums", {4}, {8}, {uint64_t(rows), length}, [rows](Thread& t) {
      for (int row = int(t.block.x); row < rows; row += 4) {
        for (int i = row * length + int(t.thread.x); i < (row + 1) * length; i += 8)
          t.read(0, i);
        t.write(1, row * 8 + int(t.thread.x));
      }
    });
  }
}

TEST(CompiledForms, UnrolledLoopsWhoseCountGrowsNeedTwoAnalyses) {
  for (int rows = 1; rows <= 40; ++rows) {
    expect_exact("weigh_rows", {4}, {8}, {uint64_t(rows)}, [rows](Thread& t) {
      for (int at = 0; at < rows; ++at) {
        t.read(0, at);
        t.read(1, at * 32 + t.x());
      }
      t.write(2, t.x());
    });
  }
  // One more family where the count outgrows the first one's range.
  EXPECT_LE(analysis_of("weigh_rows").analyses(), 3u);
}

TEST(CompiledForms, AKernelWhoseLoopEndsOnDataKeepsItsOtherAccessesExact) {
  const Footprint footprint = footprint_of("first_above", {4}, {8}, {30});
  const auto own = run_model({4}, {8}, [](Thread& t) {
    if (t.x() < 30) t.write(0, t.x());
  });
  const ArgumentFootprint& out = footprint.arguments[2];
  EXPECT_EQ(out.must_writes.precision, Precision::exact);
  EXPECT_TRUE(bytes_of(out.must_writes.relation) == own.writes.at(0));
}

TEST(CompiledForms, CasesOfASwitchAreExact) {
  expect_exact("by_case", {4}, {16}, {}, [](Thread& t) {
    const int which = int(t.thread.x & 3);
    if (which != 2) t.read(0, t.x());
    if (which != 0) t.read(0, t.x() + 64 * which);
    t.write(1, t.x());
  });
}

TEST(CompiledForms, RowsOfAnUnrolledTileAreOnePiece) {
  constexpr int width = 80;
  expect_exact("tile_rows", {3}, {16}, {width, 16}, [](Thread& t) {
    for (int i = 0; i < 16; ++i) {
      const int place = (16 + i) * width + 16 + 16 * int(t.block.x + 1) + int(t.thread.x);
      t.read(0, place);
      if (i > 0) t.write(0, place);
    }
  });
  const Footprint footprint = footprint_of("tile_rows", {3}, {16}, {width, 16});
  EXPECT_EQ(footprint.arguments[0].reads.relation.pieces.size(), 1u)
      << footprint.arguments[0].reads.relation;
}

TEST(CompiledForms, FunctionsAreLookedIntoUpToALength) {
  EXPECT_EQ(footprint_of("many_calls", {4}, {8}, {}).opaque_reason.why, Widening::deep_calls);
}

}  // namespace
}  // namespace sluice::analysis::testing
