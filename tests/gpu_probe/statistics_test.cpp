#include "report/statistics.hpp"

#include <limits>
#include <stdexcept>

#include <gtest/gtest.h>

namespace sluice::gpu_probe {
namespace {

TEST(Statistics, OddCountTakesSamplesThemselves) {
  const Summary s = summarize({9, 1, 5, 3, 7});
  EXPECT_EQ(s.count, 5u);
  EXPECT_EQ(s.median, 5);
  EXPECT_EQ(s.lower_quartile, 3);
  EXPECT_EQ(s.upper_quartile, 7);
  EXPECT_EQ(s.minimum, 1);
  EXPECT_EQ(s.maximum, 9);
}

TEST(Statistics, EvenCountInterpolates) {
  // numpy.percentile([1, 2, 3, 10], [25, 50, 75]) is 1.75, 2.5, 4.75.
  const Summary s = summarize({10, 1, 3, 2});
  EXPECT_DOUBLE_EQ(s.lower_quartile, 1.75);
  EXPECT_DOUBLE_EQ(s.median, 2.5);
  EXPECT_DOUBLE_EQ(s.upper_quartile, 4.75);
}

TEST(Statistics, OneSampleIsEverything) {
  const Summary s = summarize({4.5});
  EXPECT_EQ(s.count, 1u);
  EXPECT_EQ(s.median, 4.5);
  EXPECT_EQ(s.lower_quartile, 4.5);
  EXPECT_EQ(s.maximum, 4.5);
}

TEST(Statistics, OneOutlierDoesNotMoveTheMedian) {
  std::vector<double> samples(20, 2.0);
  samples.push_back(1e6);
  const Summary s = summarize(samples);
  EXPECT_EQ(s.median, 2.0);
  EXPECT_EQ(s.upper_quartile, 2.0);
  EXPECT_EQ(s.maximum, 1e6);
}

TEST(Statistics, RefusesNothingAndWhatIsNotFinite) {
  EXPECT_THROW(summarize({}), std::invalid_argument);
  EXPECT_THROW(summarize({1, std::numeric_limits<double>::quiet_NaN()}), std::invalid_argument);
  EXPECT_THROW(summarize({std::numeric_limits<double>::infinity()}), std::invalid_argument);
}

}  // namespace
}  // namespace sluice::gpu_probe
