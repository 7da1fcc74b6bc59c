// What may take long is done beside the program's threads.
#include "runtime/background.hpp"

#include <algorithm>
#include <future>
#include <stdexcept>
#include <thread>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <pthread.h>
#include <signal.h>
#include <sys/resource.h>

#include "runtime/launch/lent_tracker.hpp"

namespace sluice::runtime {
namespace {

TEST(Background, DoesWorkInOrderOnAThreadOfItsOwn) {
  Background background(false);
  std::vector<int> done;
  std::thread::id thread;
  for (int i = 0; i < 100; ++i)
    background.run([&done, i] { done.push_back(i); });
  background.run([&] { thread = std::this_thread::get_id(); }).wait();
  EXPECT_NE(thread, std::this_thread::get_id());
  ASSERT_EQ(done.size(), 100U);
  EXPECT_TRUE(std::ranges::is_sorted(done));
}

TEST(Background, DoesWorkAtOnceWhereItsGiverWaits) {
  Background background(true);
  std::thread::id thread;
  const auto end = background.run([&] { thread = std::this_thread::get_id(); });
  EXPECT_EQ(thread, std::this_thread::get_id());
}

TEST(Background, GetsNoneOfTheProgramsSignals) {
  Background background(false);
  const auto blocks_all = [] {
    sigset_t blocked;
    pthread_sigmask(SIG_BLOCK, nullptr, &blocked);
    return sigismember(&blocked, SIGINT) == 1 && sigismember(&blocked, SIGPROF) == 1;
  };
  EXPECT_TRUE(background.run(blocks_all).get());
  EXPECT_FALSE(blocks_all());
}

// A program that waits for its device asks for nothing meanwhile.
TEST(Background, GoesOnAtTheLowestPriorityThoughNobodyAsks) {
  Background background(false, 1'000'000);
  const auto work_until_lowered = [] {
    while (getpriority(PRIO_PROCESS, 0) != 19)
      continue;
  };
  background.run(work_until_lowered).wait();
  background.run(work_until_lowered).wait();
}

TEST(Background, GoesOnAtTheLowestPriorityOnceItHasTakenLong) {
  const auto priority = [] { return getpriority(PRIO_PROCESS, 0); };
  constexpr int64_t for_ever = int64_t{1} << 62U;
  Background eager(false, for_ever);
  Background no_more(false, -for_ever);
  EXPECT_EQ(eager.run(priority).get(), priority());
  EXPECT_EQ(no_more.run(priority).get(), 19);
  EXPECT_NE(priority(), 19);
}

TEST(Background, IsNotLongWhereThereIsNoWork) {
  Background background(false, -(int64_t{1} << 62U));
  background.run([&background] { EXPECT_TRUE(background.is_long()); }).wait();
  background.stop();
  EXPECT_FALSE(background.is_long());
}

TEST(Background, GivesWhatWasThrownToThoseWhoAsk) {
  Background background(false);
  auto end = background.run([]() -> int { throw std::runtime_error("no"); });
  EXPECT_THROW(end.get(), std::runtime_error);
}

TEST(Background, ForgetsWhatHasNotBegunWhenItStops) {
  Background background(false);
  std::promise<void> may_end, has_begun;
  auto first = background.run([&has_begun, end = may_end.get_future().share()] {
    has_begun.set_value();
    end.wait();
  });
  has_begun.get_future().wait();
  auto second = background.run([] {});
  background.drop();
  may_end.set_value();
  background.stop();
  first.get();
  EXPECT_THROW(second.get(), std::future_error);
}

TEST(LentTracker, GivesIdsAloneWhereLaunchesAreNotFollowed) {
  Background background(true);
  LentTracker tracker(background, dro::Rule::exact, nullptr, false);
  const analysis::Footprint footprint;
  const std::optional<dro::FootprintId> first = tracker.add_footprint_at_once(footprint);
  ASSERT_TRUE(first && tracker.has_footprint(*first));
  EXPECT_FALSE(tracker.dropped_by(*first));
  for (dro::FootprintId i = 1; i < LentTracker::most_ids; ++i)
    EXPECT_FALSE(tracker.dropped_by(*tracker.add_footprint_at_once(footprint)));
  EXPECT_TRUE(tracker.has_footprint(*first));
  const std::optional<dro::FootprintId> last = tracker.add_footprint_at_once(footprint);
  EXPECT_EQ(tracker.dropped_by(*last), first);
  EXPECT_FALSE(tracker.has_footprint(*first));
  EXPECT_TRUE(tracker.has_footprint(*last));
  EXPECT_EQ(tracker.get().counters().footprints, 0U);
}

TEST(LentTracker, HearsWhenItIsBackWhatItWasToldMeanwhileInOrder) {
  Background background(false);
  LentTracker tracker(background, dro::Rule::exact, nullptr);
  std::promise<void> may_end;
  tracker.lend([end = may_end.get_future().share()](dro::DependenceTracker&) { end.wait(); });
  std::vector<int> heard;
  for (int i = 0; i < 3; ++i)
    tracker.tell([&heard, i](dro::DependenceTracker&) { heard.push_back(i); });
  EXPECT_TRUE(tracker.is_lent());
  EXPECT_TRUE(heard.empty());
  may_end.set_value();
  tracker.wait();
  EXPECT_THAT(heard, ::testing::ElementsAre(0, 1, 2));
  EXPECT_FALSE(tracker.is_lent());
  tracker.tell([&heard](dro::DependenceTracker&) { heard.push_back(3); });
  EXPECT_EQ(heard.size(), 4U);
}

}  // namespace
}  // namespace sluice::runtime
