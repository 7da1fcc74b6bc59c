// The calling thread runs windows alone while workers wait for processors rather than for work.
#include "megakernel/host/crew.hpp"

#include <gtest/gtest.h>

namespace sluice::megakernel {
namespace {

using std::chrono::microseconds;
using std::chrono::milliseconds;

TEST(Crew, IsStarvedWhereOneSleepsAndAnotherHasNoProcessor) {
  // Of two workers in ten milliseconds.
  const Crew crew;
  const auto is_starved = [&](int slept, int used) {
    return crew.is_starved({milliseconds(10), milliseconds(slept), milliseconds(used), 2});
  };
  EXPECT_TRUE(is_starved(4, 8));
  EXPECT_FALSE(is_starved(8, 11));  // one waits for the other's long task
  EXPECT_FALSE(is_starved(1, 10));  // both lose their processors, but neither waits
  EXPECT_FALSE(is_starved(0, 20));
}

TEST(Crew, IsNotStarvedByASingleLossAtTheBeginningOfAWindow) {
  Crew crew;
  const Crew::Spent early{milliseconds(1), microseconds(400), milliseconds(1), 2};
  EXPECT_FALSE(crew.is_starved(early));
  crew.starved();
  EXPECT_TRUE(crew.is_starved(early));
  crew.kept(milliseconds(5));
  EXPECT_FALSE(crew.is_starved(early));
}

// Milliseconds that windows of one millisecond run alone, where the calling thread gets so many
// percent of a processor.
int time_alone(Crew& crew, int percent = 100, bool is_coupled = true) {
  int windows = 0;
  for (bool is_over = false; !is_over; ++windows) {
    EXPECT_TRUE(crew.begin());
    is_over = crew.ended_alone(milliseconds(1), is_coupled);
  }
  crew.judge(microseconds(10 * percent * windows));
  return windows;
}

TEST(Crew, IsTriedAgainEverMoreRarely) {
  Crew crew;
  EXPECT_FALSE(crew.begin());
  for (const int milliseconds : {20, 40, 80, 160, 160}) {
    crew.starved();
    EXPECT_EQ(time_alone(crew), milliseconds);
  }
}

TEST(Crew, IsNotTriedWhileTheCallingThreadSharesItsProcessor) {
  Crew crew;
  crew.starved();
  for (int i = 0; i < 10; ++i) {
    time_alone(crew, 50);
    ASSERT_TRUE(crew.begin());
  }
  time_alone(crew);
  EXPECT_FALSE(crew.begin());
}

TEST(Crew, IsTriedWhereWorkersWouldNotHaveWaitedForEachOther) {
  Crew crew;
  crew.starved();
  time_alone(crew, 50, false);
  EXPECT_FALSE(crew.begin());
}

TEST(Crew, IsJudgedOnlyByWindowsOfWhichTheProcessorTimeIsKnown) {
  Crew crew;
  crew.starved();
  for (int i = 0; i < 19; ++i)
    ASSERT_FALSE(crew.ended_alone(milliseconds(1), true));
  crew.begin_anew();
  ASSERT_TRUE(crew.ended_alone(milliseconds(1), true));
  crew.judge(milliseconds(1));
  EXPECT_FALSE(crew.begin());
}

TEST(Crew, IsTrustedAgainAfterWindowsThatWentWell) {
  Crew crew;
  crew.starved();
  crew.starved();
  time_alone(crew);
  crew.kept(milliseconds(1));  // too short to tell
  crew.starved();
  EXPECT_EQ(time_alone(crew), 80);
  crew.kept(milliseconds(6));
  crew.kept(milliseconds(6));
  crew.starved();
  EXPECT_EQ(time_alone(crew), 20);
}

}  // namespace
}  // namespace sluice::megakernel
