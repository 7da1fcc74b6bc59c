// A number that changes from launch to launch stays a parameter: one analysis serves all launches,
// and its answers are those that each launch would get alone.
#include <gtest/gtest.h>

#include "analysis/shape/footprint_comparison.hpp"
#include "footprint_oracle.hpp"

namespace sluice::analysis::testing {
namespace {

LaunchShape shape(const Dim3& grid, const Dim3& block, std::vector<uint64_t> values) {
  return {.grid = grid, .block = block, .shape_values = std::move(values)};
}

TEST(SymbolicFootprints, GaussianEliminationNeedsTwoAnalysesAKernel) {
  constexpr uint64_t n = 1024;
  auto multipliers = fresh_analysis_of("eliminate_multipliers");
  auto rows = fresh_analysis_of("eliminate_rows");
  for (uint64_t k = 0; k + 1 < n; ++k) {
    const Footprint first = multipliers->footprint(shape({2}, {512}, {n, k}));
    EXPECT_EQ(first.arguments[0].must_writes.precision, Precision::exact);
    EXPECT_FALSE(first.arguments[0].may_writes.present());
    const Footprint second = rows->footprint(shape({64, 64}, {16, 16}, {n, k}));
    EXPECT_EQ(second.arguments[1].must_writes.precision, Precision::exact);
    EXPECT_FALSE(second.arguments[1].may_writes.present());
  }
  EXPECT_LE(multipliers->analyses() + rows->analyses(), 4u);
}

TEST(SymbolicFootprints, EliminationIsExactAtEveryPivot) {
  constexpr int n = 9;
  for (int k = 0; k < n - 1; ++k) {
    expect_exact("eliminate_multipliers", {3}, {4}, {n, uint64_t(k)}, [k](Thread& t) {
      if (t.x() >= n - 1 - k) return;
      t.write(0, n * (t.x() + k + 1) + k);
      t.read(1, n * (t.x() + k + 1) + k);
      t.read(1, n * k + k);
    });
    expect_exact("eliminate_rows", {3, 3}, {4, 4}, {n, uint64_t(k)}, [k](Thread& t) {
      if (t.x() >= n - 1 - k || t.y() >= n - k) return;
      const int row = t.x() + 1 + k;
      t.read(0, n * row + k);
      t.read(1, n * row + t.y() + k);
      t.read(1, n * k + t.y() + k);
      t.write(1, n * row + t.y() + k);
      if (t.y() != 0) return;
      t.read(2, row);
      t.read(2, k);
      t.write(2, row);
    });
  }
  EXPECT_LE(analysis_of("eliminate_rows").analyses(), 2u);
}

TEST(SymbolicFootprints, FloydWarshallIsExactAtEveryStep) {
  constexpr int n = 10;
  for (int k = 0; k < n; ++k) {
    expect_exact("floyd_warshall", {3, 3}, {4, 4}, {n, uint64_t(k)}, [k](Thread& t) {
      if (t.x() >= n || t.y() >= n) return;
      for (int place : {t.y() * n + t.x(), t.y() * n + k, k * n + t.x()})
        t.read(0, place);
      t.write(0, t.y() * n + t.x());
    });
  }
  EXPECT_EQ(analysis_of("floyd_warshall").analyses(), 2u);
}

TEST(SymbolicFootprints, SlicesOfACubeAreOneFamily) {
  auto slices = fresh_analysis_of("convolve_slice");
  for (uint64_t i = 1; i < 255; i += 7) {
    const Footprint slice = slices->footprint(shape({8, 32}, {32, 8}, {i}));
    EXPECT_EQ(slice.arguments[0].reads.precision, Precision::exact);
    EXPECT_EQ(slice.arguments[1].must_writes.precision, Precision::exact);
  }
  EXPECT_LE(slices->analyses(), 2u);
}

TEST(SymbolicFootprints, GridsThatShrinkWithThePivot) {
  constexpr int n = 24;
  for (int from = 0; from < n; from += 4) {
    const auto tiles = uint32_t(n - from) / 4;
    expect_exact("trailing_tiles", {tiles, tiles}, {4, 4}, {n, uint64_t(from)}, [from](Thread& t) {
      t.read(0, (from + t.y()) * n + from);
      t.write(1, (from + t.y()) * n + from + t.x());
    });
  }
  EXPECT_LE(analysis_of("trailing_tiles").analyses(), 3u);
}

TEST(SymbolicFootprints, ScalarsInLoopBoundsAndGuards) {
  for (int offset : {1, 2, 4, 8, 16}) {
    expect_exact("shifted_sum", {4}, {8}, {30, uint64_t(offset)}, [offset](Thread& t) {
      if (t.x() >= 30) return;
      t.read(0, t.x());
      if (t.x() >= offset) t.read(0, t.x() - offset);
      t.write(1, t.x());
    });
  }
  EXPECT_EQ(analysis_of("shifted_sum").analyses(), 2u);
  for (int from = 0; from < 12; ++from) {
    expect_exact("read_window", {2}, {4}, {uint64_t(from), uint64_t(from + 5)}, [from](Thread& t) {
      for (int j = from; j < from + 5; ++j)
        t.read(0, j);
      t.write(1, t.x());
    });
  }
  // One more family where values outgrow the first one's range.
  EXPECT_LE(analysis_of("read_window").analyses(), 3u);
}

TEST(SymbolicFootprints, ScalarsThatReachNoAddressCauseNoAnalysis) {
  auto analysis = fresh_analysis_of("time_step");
  ASSERT_EQ(analysis->signature().shape_scalars.size(), 1u);
  EXPECT_EQ(analysis->signature().shape_scalars[0].offset, 16u);
  analysis->footprint(shape({4}, {8}, {30}));
  EXPECT_EQ(analysis->analyses(), 1u);
}

TEST(SymbolicFootprints, WhatIsNotAffineInTheNumberIsExactForEachNumber) {
  for (int stage : {1, 2, 4, 8}) {
    expect_exact("butterfly", {2}, {8}, {uint64_t(stage)}, [stage](Thread& t) {
      const int partner = t.x() ^ stage;
      if (partner <= t.x()) return;
      t.read(0, t.x());
      t.read(0, partner);
      t.write(0, t.x());
    });
  }
}

TEST(SymbolicFootprints, NumbersAtTheLimitsOfTheirTypeGetNoRange) {
  auto sizes = fresh_analysis_of("shift_bytes");
  for (uint64_t size : {uint64_t{1} << 62, INT64_MAX - uint64_t{7}, uint64_t{1} << 63, uint64_t{8}})
    EXPECT_FALSE(sizes->footprint(shape({4}, {8}, {size, 30})).opaque());
  auto strides = fresh_analysis_of("wrap_around");
  for (uint64_t stride : {uint64_t{1} << 31, (uint64_t{1} << 31) - 1, uint64_t{3}})
    EXPECT_FALSE(strides->footprint(shape({4}, {8}, {stride, 5})).opaque());
}

// Of the first shape the index wraps around; the others are no family of its.
TEST(SymbolicFootprints, AWidenedShapeWidensNoLaterOne) {
  auto analysis = fresh_analysis_of("wrap_around");
  const Footprint first = analysis->footprint(shape({4}, {8}, {2'000'000'000, 5}));
  EXPECT_EQ(first.arguments[0].may_writes.precision, Precision::whole_buffer);
  for (const uint64_t stride : {3, 7, 5, 6}) {
    const Footprint later = analysis->footprint(shape({4}, {8}, {stride, 5}));
    EXPECT_EQ(later.arguments[0].must_writes.precision, Precision::exact) << stride;
    EXPECT_FALSE(later.arguments[0].may_writes.present()) << stride;
  }
}

TEST(SymbolicFootprints, ValuesBeyondTheRangeAreNeverGuessed) {
  auto analysis = fresh_analysis_of("floyd_warshall");
  for (uint64_t k : {0ULL, 1ULL, 2ULL, 1ULL << 20, 1ULL << 31, (1ULL << 32) - 5}) {
    const Footprint of_many = closed(analysis->footprint(shape({3, 3}, {4, 4}, {10, k})));
    const Footprint alone =
        fresh_analysis_of("floyd_warshall")->footprint(shape({3, 3}, {4, 4}, {10, k}));
    ASSERT_EQ(of_many.opaque(), alone.opaque());
    EXPECT_EQ(of_many.arguments[0].reads.precision, alone.arguments[0].reads.precision) << k;
    EXPECT_EQ(of_many.shape.shape_values, alone.shape.shape_values);
    if (alone.arguments[0].reads.precision == Precision::exact) {
      EXPECT_EQ(bytes_of(of_many.arguments[0].reads.relation),
                bytes_of(alone.arguments[0].reads.relation));
    }
  }
}

}  // namespace
}  // namespace sluice::analysis::testing
