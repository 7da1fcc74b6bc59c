// The calling thread runs windows alone while workers are without processors.
#include "megakernel/host/starvation.hpp"

#include <cerrno>
#include <filesystem>
#include <fstream>
#include <string>

#include <gtest/gtest.h>

#include "base/scratch_folder.hpp"
#include "megakernel/host/lost_time.hpp"
#include "megakernel/host/processor_share.hpp"

namespace sluice::megakernel {
namespace {

using std::chrono::microseconds;
using std::chrono::milliseconds;
namespace fs = std::filesystem;

class StarvationTest : public ::testing::Test {
 protected:
  bool goes_alone() {
    return starvation.goes_alone([this] { return has_short_launches; });
  }
  // Milliseconds that the calling thread is alone from now on.
  int time_alone() {
    int time = 0;
    for (; goes_alone(); ++time)
      now += milliseconds(1);
    return time;
  }

  Starvation::Time now{std::chrono::hours(1)};
  bool is_contended = false;
  bool has_short_launches = true;
  int asked = 0;
  Starvation starvation{[this] { return now; },
                        [this] {
                          ++asked;
                          return is_contended;
                        }};
};

TEST_F(StarvationTest, IsNoneAtFirst) {
  EXPECT_FALSE(goes_alone());
  EXPECT_FALSE(starvation.is_alone());
}

TEST_F(StarvationTest, IsWhereMoreThanAQuarterOfTheTimeIsLost) {
  goes_alone();
  for (int i = 0; i < 100 && !starvation.is_alone(); ++i) {
    now += milliseconds(1);
    starvation.lost(microseconds(300));
  }
  EXPECT_TRUE(goes_alone());
}

TEST_F(StarvationTest, IsNotWhereLessIsLost) {
  goes_alone();
  for (int i = 0; i < 1000; ++i) {
    now += milliseconds(1);
    starvation.lost(microseconds(200));
    ASSERT_FALSE(goes_alone());
  }
}

TEST_F(StarvationTest, IsNotASingleShortLoss) {
  goes_alone();
  starvation.lost(microseconds(900));
  EXPECT_FALSE(goes_alone());
  now += milliseconds(4);
  starvation.lost(microseconds(900));
  EXPECT_FALSE(goes_alone());
}

TEST_F(StarvationTest, IsKnownAtOnceInTheWindow) {
  goes_alone();
  starvation.lost(milliseconds(3));
  EXPECT_TRUE(starvation.is_alone());
}

TEST_F(StarvationTest, EndsWithItsTimeAlsoInAWindow) {
  starvation.starve();
  ASSERT_TRUE(goes_alone());
  now += milliseconds(19);
  EXPECT_TRUE(goes_alone());
  now += milliseconds(1);
  EXPECT_FALSE(goes_alone());
  EXPECT_FALSE(starvation.is_alone());
}

TEST_F(StarvationTest, IsTriedAgainEverMoreRarely) {
  for (const int milliseconds : {20, 40, 80, 160, 160}) {
    starvation.starve();
    EXPECT_EQ(time_alone(), milliseconds);
  }
}

TEST_F(StarvationTest, IsForgottenAfterWindowsThatWentWell) {
  starvation.starve();
  time_alone();
  starvation.starve();
  EXPECT_EQ(time_alone(), 40);
  now += milliseconds(41);
  starvation.starve();
  EXPECT_EQ(time_alone(), 20);
}

// What was lost while the calling thread was alone already says nothing new.
TEST_F(StarvationTest, IsNotMadeLongerByWhatIsLostInIt) {
  starvation.starve();
  starvation.lost(milliseconds(50));
  EXPECT_EQ(time_alone(), 20);
}

// It may have long launches, so the others come as soon as that can be known.
TEST_F(StarvationTest, IsBrieflyWhereTheProgramBeginsUnderContention) {
  is_contended = true;
  has_short_launches = false;
  EXPECT_EQ(time_alone(), 2);
  EXPECT_FALSE(goes_alone());
}

TEST_F(StarvationTest, LastsWhileShortLaunchesMeetContention) {
  is_contended = true;
  for (int i = 0; i < 1000; ++i) {
    ASSERT_TRUE(goes_alone());
    now += milliseconds(1);
  }
  is_contended = false;
  EXPECT_LE(time_alone(), 20);
}

TEST_F(StarvationTest, EndsUnderContentionWhereLaunchesAreLong) {
  goes_alone();
  starvation.starve();
  is_contended = true;
  has_short_launches = false;
  EXPECT_EQ(time_alone(), 20);
}

TEST_F(StarvationTest, IsLookedForOnlyAtTheEndOfATimeAlone) {
  for (int i = 0; i < 10; ++i)
    goes_alone();
  EXPECT_EQ(asked, 1);
  starvation.starve();
  time_alone();
  EXPECT_EQ(asked, 2);
}

// Threads described as the kernel does in /proc/<pid>/task.
class ProcessorShareTest : public ::testing::Test {
 protected:
  void add(const std::string& schedstat) {
    const fs::path thread = folder_.path() / std::to_string(threads_++);
    fs::create_directories(thread);
    std::ofstream(thread / "schedstat") << schedstat;
  }
  ProcessorShare read() const { return share_of_threads(folder_.path().string()); }

 private:
  const ScratchFolder folder_;
  int threads_ = 0;
};

TEST_F(ProcessorShareTest, IsOfAllThreads) {
  add("172781534 51466817 24\n");
  add("3000000 2000000 3\n");
  EXPECT_EQ(read().ran, 175781534);
  EXPECT_EQ(read().waited, 53466817);
}

// Two threads work, a third one is woken now and then on the processor of one of them.
TEST_F(ProcessorShareTest, SeesNoContentionInAThreadThatHardlyRuns) {
  add("713000000 12000000 342\n");
  add("462000000 55000000 246\n");
  add("8000000 387000000 325\n");
  EXPECT_FALSE(read().is_contended());
}

// Beside two busy processes on two processors.
TEST_F(ProcessorShareTest, SeesContentionWhereThreadsWaitForLongerThanTheyRun) {
  add("100000000 200000000 50\n");
  add("100000000 200000000 50\n");
  EXPECT_TRUE(read().is_contended());
}

TEST_F(ProcessorShareTest, LeavesOutThreadsOfWhichTheTextIsAnother) {
  for (const char* text : {"", "12", "12 ", "a 34 5", "12 b 5", "12,34,5"})
    add(text);
  EXPECT_EQ(read().ran, 0);
  EXPECT_EQ(read().waited, 0);
  EXPECT_EQ(share_of_threads("/no/such/folder").ran, 0);
}

TEST(ProcessorShare, IsContendedWhereThreadsWaitForAnEighthOfTheirTime) {
  EXPECT_FALSE((ProcessorShare{0, 0}.is_contended()));
  EXPECT_FALSE((ProcessorShare{94, 6}.is_contended()));
  EXPECT_TRUE((ProcessorShare{80, 20}.is_contended()));
}

TEST(ContentionWatch, LooksAtWhatIsNewOnceThatIsEnough) {
  constexpr int64_t millisecond = 1'000'000;
  ContentionWatch watch;
  EXPECT_FALSE(watch.is_contended({2 * millisecond, 7 * millisecond}));
  EXPECT_TRUE(watch.is_contended({20 * millisecond, 20 * millisecond}));
  EXPECT_TRUE(watch.is_contended({25 * millisecond, 20 * millisecond}));
  EXPECT_FALSE(watch.is_contended({40 * millisecond, 20 * millisecond}));
}

TEST(ProcessorShare, AskingLeavesErrno) {
  errno = 7;
  share_of_threads("/no/such/folder");
  EXPECT_EQ(errno, 7);
}

LostTime::Reading at(int time, int ran) {
  return {milliseconds(time), milliseconds(ran)};
}

TEST(LostTime, IsWhatAThreadNeitherRanNorSlept) {
  LostTime lost;
  lost.begin(at(10, 3));
  EXPECT_EQ(lost.take(at(20, 12)), milliseconds(1));
  lost.sleep(milliseconds(4));
  lost.sleep(milliseconds(2));
  EXPECT_EQ(lost.take(at(30, 14)), milliseconds(2));
}

TEST(LostTime, CountsAnewFromEachWindow) {
  LostTime lost;
  lost.begin(at(10, 0));
  lost.sleep(milliseconds(5));
  lost.begin(at(50, 1));
  EXPECT_EQ(lost.take(at(60, 1)), milliseconds(10));
}

// The clocks are read one after the other.
TEST(LostTime, IsNeverLessThanNothing) {
  LostTime lost;
  lost.begin(at(10, 0));
  EXPECT_EQ(lost.take(at(11, 2)), milliseconds(0));
}

TEST(LostTime, ReadsClocksThatGoOn) {
  const LostTime::Reading first = LostTime::now();
  const LostTime::Reading second = LostTime::now();
  EXPECT_GE(second.time, first.time);
  EXPECT_GE(second.ran, first.ran);
}

}  // namespace
}  // namespace sluice::megakernel
