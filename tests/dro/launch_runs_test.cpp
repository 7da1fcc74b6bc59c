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

TEST(LaunchRuns, DropWhatIsBelowANumber) {
  std::mt19937 random(2);
  for (int round = 0; round < 200; ++round) {
    LaunchRuns runs;
    std::vector<LaunchNumber> expected;
    LaunchNumber number = 1;
    for (int i = 0; i < 20; ++i) {
      runs.add(number);
      expected.push_back(number);
      number += 1 + (random() % 4 == 0 ? random() % 20 : 2);
    }
    const LaunchNumber oldest = random() % (number + 5);
    runs.drop_before(oldest);
    std::erase_if(expected, [&](LaunchNumber each) { return each < oldest; });
    ASSERT_EQ(numbers_in(runs), expected);
    ASSERT_EQ(runs.size(), expected.size());
  }
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

TEST(LaunchRuns, AreComparedByTheirNumbers) {
  std::mt19937 random(2);
  for (int round = 0; round < 200; ++round) {
    LaunchRuns runs, shifted, other;
    std::vector<LaunchNumber> numbers;
    LaunchNumber number = 1;
    for (int i = 0; i < 12; ++i) {
      number += 1 + random() % 3;
      runs.add(number);
      shifted.add(number + 5);
      numbers.push_back(number);
    }
    EXPECT_TRUE(shifted.is_shift_of(runs, 5));
    EXPECT_FALSE(shifted.is_shift_of(runs, 4));
    other = runs;
    other.shift(5);
    EXPECT_EQ(numbers_in(other), numbers_in(shifted));

    LaunchRuns more = runs;
    std::vector<LaunchNumber> added;
    for (int i = 0; i < 4; ++i) {
      number += 1 + random() % 3;
      more.add(number);
      added.push_back(number);
    }
    EXPECT_EQ(more.added_since(runs), added);
    EXPECT_EQ(runs.added_since(more), std::nullopt);
    EXPECT_EQ(shifted.added_since(runs), std::nullopt);
    EXPECT_EQ(runs.added_since({}), std::nullopt);

    EXPECT_TRUE(runs.meets({{0, numbers[random() % numbers.size()], number + 1}}));
    EXPECT_FALSE(runs.meets(added));
    EXPECT_FALSE(LaunchRuns().meets(numbers));
  }
}

}  // namespace
}  // namespace sluice::dro
