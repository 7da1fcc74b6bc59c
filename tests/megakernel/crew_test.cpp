// The calling thread runs windows alone while workers wait for processors rather than for work.
#include "megakernel/host/crew.hpp"

#include <gtest/gtest.h>

namespace sluice::megakernel {
namespace {

using std::chrono::milliseconds;

TEST(Crew, IsStarvedWhereOneSleepsAndAnotherHasNoProcessor) {
  // Of two workers in ten milliseconds.
  const auto is_starved = [](int slept, int used) {
    return Crew::is_starved({milliseconds(10), milliseconds(slept), milliseconds(used), 2});
  };
  EXPECT_TRUE(is_starved(4, 8));
  EXPECT_FALSE(is_starved(8, 11));  // one waits for the other's long task
  EXPECT_FALSE(is_starved(1, 10));  // both lose their processors, but neither waits
  EXPECT_FALSE(is_starved(0, 20));
}

uint32_t windows_alone(Crew& crew) {
  uint32_t windows = 0;
  while (crew.begin())
    ++windows;
  return windows;
}

TEST(Crew, IsTriedAgainEverMoreRarely) {
  Crew crew;
  EXPECT_FALSE(crew.begin());
  for (const uint32_t windows : {4U, 8U, 16U, 32U, 64U, 64U}) {
    crew.starved();
    EXPECT_EQ(windows_alone(crew), windows);
  }
}

TEST(Crew, IsTrustedAgainAfterAWindowThatWentWell) {
  Crew crew;
  crew.starved();
  crew.starved();
  windows_alone(crew);
  crew.kept(milliseconds(1));  // too short to tell
  crew.starved();
  EXPECT_EQ(windows_alone(crew), 16U);
  crew.kept(milliseconds(20));
  crew.starved();
  EXPECT_EQ(windows_alone(crew), 4U);
}

}  // namespace
}  // namespace sluice::megakernel
