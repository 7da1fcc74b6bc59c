// Work and span of runs whose figures can be counted by hand.
#include "tools/view/parallelism.hpp"

#include <gtest/gtest.h>

#include "tools/handwritten_run.hpp"

namespace sluice::tools {
namespace {

using testing::all;
using testing::HandwrittenRun;
using testing::one_to_one;
using testing::ranges;

TEST(Parallelism, LaunchesOfNothingInCommonCanAllRunAtOnce) {
  HandwrittenRun made;
  for (int i = 0; i < 5; ++i)
    made.launch(8);
  const Parallelism found = *measure(made.run, Weight::blocks);
  EXPECT_EQ(found.work, 40);
  EXPECT_EQ(found.launch_by_launch, 5);
  EXPECT_EQ(found.launch_graph, 1);
  EXPECT_EQ(found.block_graph, 1);
  EXPECT_EQ(found.launch_by_launch_time[0], 5 * 4);  // 2 workers
  EXPECT_EQ(found.most_gain(0), 1);
  EXPECT_EQ(found.most_gain(1), 1);         // 8 workers, 5 to 5
  EXPECT_EQ(found.most_gain(2), 5 / 1.25);  // 32 workers: 40 blocks of work
}

// The chain of launches 1 -> 2 -> 3 has no chain of blocks through it: block 1 of launch 2, for
// which launch 3 waits, waits for nothing.
TEST(Parallelism, ABlockGraphMayBeShallowerThanItsLaunchGraph) {
  HandwrittenRun made;
  const auto first = made.launch(2);
  const auto second = made.launch(2, {{first, ranges(2, {{0, 0}, {1, 0}})}});
  made.launch(1, {{second, ranges(2, {{1, 1}})}});
  const Parallelism found = *measure(made.run, Weight::blocks);
  EXPECT_EQ(found.launch_graph, 3);
  EXPECT_EQ(found.block_graph, 2);
}

TEST(Parallelism, AForkAndJoinIsAsDeepAsItsLongestChain) {
  HandwrittenRun made;
  const auto a = made.launch(4);
  const auto b = made.launch(4, {{a, one_to_one(4)}});
  const auto c = made.launch(4, {{a, one_to_one(4)}});
  made.launch(200, {{b, all(4, 200)}, {c, all(4, 200)}});
  const Parallelism found = *measure(made.run, Weight::blocks);
  EXPECT_EQ(found.work, 212);
  EXPECT_EQ(found.launch_by_launch, 4);
  EXPECT_EQ(found.launch_graph, 3);
  EXPECT_EQ(found.block_graph, 3);
}

TEST(Parallelism, ALaunchThatIsNotUnderstoodWaitsForAllAndAllForIt) {
  HandwrittenRun made;
  made.launch(4);
  made.launch(4);
  made.launch(4);
  made.opaque();
  made.launch(4);
  const Parallelism found = *measure(made.run, Weight::blocks);
  EXPECT_EQ(found.launch_graph, 3);
  EXPECT_EQ(found.block_graph, 3);
}

TEST(Parallelism, ManyMastersOfABlockCountAsTheLatest) {
  HandwrittenRun made;
  const auto first = made.launch(1000);
  // One block of the second launch is late, in the middle of a long range.
  std::vector<dro::BlockRange> none(1000, {1, 0});
  none[517] = {3, 3};
  const auto second = made.launch(1000, {{first, ranges(1000, none)}});
  made.launch(2, {{second, ranges(1000, {{5, 900}, {518, 999}})}});
  EXPECT_EQ(measure(made.run, Weight::blocks)->block_graph, 3);
  HandwrittenRun without = made;
  without.run.tables.back() = ranges(1000, {{5, 516}, {518, 999}});
  EXPECT_EQ(measure(without.run, Weight::blocks)->block_graph, 2);
}

TEST(Parallelism, ByTimeABlockWeighsItsShareOfItsTask) {
  HandwrittenRun made;
  const auto first = made.launch(4);
  made.launch(4, {{first, one_to_one(4)}});
  EXPECT_FALSE(measure(made.run, Weight::nanoseconds));
  // Tasks of two blocks: 10 and 30 ns a block, then 30 and 10.
  made.run.tasks.push_back({1, {{0, 0, 0, 0, 20}, {2, 1, 0, 0, 60}}, {}});
  made.run.tasks.push_back({2, {{0, 0, 20, 20, 80}, {2, 1, 60, 60, 80}}, {}});
  const Parallelism found = *measure(made.run, Weight::nanoseconds);
  EXPECT_EQ(found.work, 160);
  EXPECT_EQ(found.launch_by_launch, 60);
  EXPECT_EQ(found.launch_graph, 60);
  EXPECT_EQ(found.block_graph, 40);
}

}  // namespace
}  // namespace sluice::tools
