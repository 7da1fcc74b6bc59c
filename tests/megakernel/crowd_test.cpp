// Whether other processes want the processors too, by what the kernel says of a thread.
#include "megakernel/host/crowd.hpp"

#include <cerrno>

#include <gtest/gtest.h>

#include "megakernel/block_cost.hpp"

namespace sluice::megakernel {
namespace {

using std::chrono::nanoseconds;

TEST(Crowd, IsReadFromTheKernelsText) {
  const auto share = parse_share("172781534 51466817 24\n");
  ASSERT_TRUE(share);
  EXPECT_EQ(share->ran, nanoseconds(172781534));
  EXPECT_EQ(share->waited, nanoseconds(51466817));
}

TEST(Crowd, IsUnknownWhereTheTextIsAnother) {
  for (const char* text : {"", "12", "12 ", "12 34", "a 34 5", "12 b 5", "12,34,5"})
    EXPECT_FALSE(parse_share(text)) << text;
}

TEST(Crowd, IsWhereAThreadWaitsForAnEighthOfItsTime) {
  const auto crowded = [](int ran, int waited) {
    return ProcessorShare{nanoseconds(ran), nanoseconds(waited)}.is_crowded();
  };
  EXPECT_FALSE(crowded(0, 0));
  EXPECT_FALSE(crowded(94, 6));
  EXPECT_TRUE(crowded(80, 20));
}

TEST(Crowd, RunnableThreadsStandBeforeTheSlash) {
  EXPECT_EQ(parse_runnable("0.42 0.96 1.08 3/96 15621\n"), 3U);
  for (const char* text : {"", "0.42", "3/96", "0.42 /96", "0.42 x/96", "0.42 3x/96"})
    EXPECT_FALSE(parse_runnable(text)) << text;
}

TEST(Crowd, AThreadsStateStandsBehindItsName) {
  EXPECT_EQ(parse_runs("12 (a) R 1 12"), true);
  EXPECT_EQ(parse_runs("12 (a) S 1 12"), false);
  EXPECT_EQ(parse_runs("12 (R) R (b) S 1 12"), false);
  for (const char* text : {"", "12 (a", "12 (a)", "12 (a) "})
    EXPECT_FALSE(parse_runs(text)) << text;
}

TEST(Crowd, OthersAreNotMoreThanThereAreThreads) {
  EXPECT_FALSE(others_want_processors(1'000'000));
}

TEST(Crowd, LaunchesAreShortWhereTheyAreInLanesAndMeasured) {
  BlockCost cost;
  Window window;
  window.slots.push_back({.cost = &cost, .block_count = 100});
  window.lane_ends = {1};
  EXPECT_FALSE(has_short_launches(window));
  cost.note(nanoseconds(1000), 1);
  EXPECT_TRUE(has_short_launches(window));
  window.slots.push_back({.cost = &cost, .block_count = 10'000});
  EXPECT_FALSE(has_short_launches(window));
  window.slots.pop_back();
  window.lane_ends.clear();
  EXPECT_FALSE(has_short_launches(window));
}

TEST(Crowd, AskingLeavesErrno) {
  errno = 7;
  share_of_main_thread();
  others_want_processors(1);
  EXPECT_EQ(errno, 7);
}

}  // namespace
}  // namespace sluice::megakernel
