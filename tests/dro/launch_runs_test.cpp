// Lists of launch numbers hold what was put in, in order, however it is packed.
#include "dro/launches/launch_runs.hpp"

#include <random>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

namespace sluice::dro {
namespace {

std::vector<LaunchNumber> numbers_in(const LaunchRuns& runs) {
  std::vector<LaunchNumber> numbers;
  runs.for_each([&](LaunchNumber number) { numbers.push_back(number); });
  return numbers;
}

TEST(LaunchRuns, HoldWhatWasAddedInOrder) {
  std::mt19937 random(1);
  for (int round = 0; round < 200; ++round) {
    LaunchRuns runs;
    std::vector<LaunchNumber> expected;
    LaunchNumber number = 0;
    for (int i = 0; i < 30; ++i) {
      number = random() % 8 == 0 ? random() % 100 : number + random() % 3;
      runs.add(number);
      expected.push_back(number);
    }
    ASSERT_EQ(numbers_in(runs), expected);
    LaunchRuns joined = runs;
    joined.add(LaunchRuns(runs));
    std::vector<LaunchNumber> twice = expected;
    twice.insert(twice.end(), expected.begin(), expected.end());
    ASSERT_EQ(numbers_in(joined), twice);
    ASSERT_EQ(joined.size(), twice.size());
    const size_t most = random() % 70;
    joined.keep_last(most);
    if (twice.size() > most) {
      twice.erase(twice.begin(), twice.end() - static_cast<std::ptrdiff_t>(most));
    }
    ASSERT_EQ(numbers_in(joined), twice);
    ASSERT_EQ(joined.empty(), twice.empty());
    joined.keep_last(0);
    joined.add(std::move(runs));
    ASSERT_EQ(numbers_in(joined), expected);
  }
}

}  // namespace
}  // namespace sluice::dro
