// A team's workers come to each call, each once, and are gone when it returns.
#include "megakernel/host/team.hpp"

#include <atomic>
#include <thread>

#include <gtest/gtest.h>

namespace sluice::megakernel {
namespace {

TEST(Team, OfOneIsTheCallingThread) {
  std::thread::id who;
  Team team(1, [&](uint32_t worker) {
    EXPECT_EQ(worker, 0U);
    who = std::this_thread::get_id();
  });
  team.run();
  EXPECT_EQ(who, std::this_thread::get_id());
}

TEST(Team, AllComeWhereEachWaitsForTheOthers) {
  constexpr uint32_t workers = 4;
  std::atomic<uint32_t> here{0};
  Team team(workers, [&](uint32_t worker) {
    if (worker == 0) team.call();
    ++here;
    while (here.load() < workers)
      std::this_thread::yield();
  });
  for (int call = 0; call < 50; ++call) {
    here = 0;
    team.run();
    ASSERT_EQ(here.load(), workers);
  }
}

TEST(Team, ComeAgainWhereTheyAreCalledAgain) {
  std::atomic<uint32_t> came{0};
  Team team(2, [&](uint32_t worker) {
    if (worker != 0) {
      ++came;
      return;
    }
    for (uint32_t call = 1; call <= 3; ++call) {
      team.call();
      while (came.load() < call)
        std::this_thread::yield();
    }
  });
  team.run();
  EXPECT_EQ(came.load(), 3U);
}

TEST(Team, StayAwayWhereNobodyCalls) {
  std::atomic<uint32_t> came{0};
  Team team(4, [&](uint32_t) { ++came; });
  team.run();
  EXPECT_EQ(came.load(), 1U);
}

TEST(Team, NoneWorksWhenACallHasReturned) {
  std::atomic<int> working{0};
  Team team(4, [&](uint32_t worker) {
    if (worker == 0) team.call();
    ++working;
    std::this_thread::yield();
    --working;
  });
  for (int call = 0; call < 500; ++call) {
    team.run();
    ASSERT_EQ(working.load(), 0);
  }
}

TEST(Team, MayEndWithoutACall) {
  const Team team(3, [](uint32_t) {});
  EXPECT_EQ(team.size(), 3U);
}

}  // namespace
}  // namespace sluice::megakernel
