// Workers are compared by what their tasks take beside what the blocks usually cost.
#include "megakernel/host/worker_speeds.hpp"

#include <gtest/gtest.h>

namespace sluice::megakernel {
namespace {

using std::chrono::microseconds;

double ratio(const WorkerSpeeds& speeds) {
  return speeds.get()[1] / speeds.get()[0];
}

void run_window(WorkerSpeeds& speeds, int notes, microseconds first, microseconds second) {
  for (int i = 0; i < notes; ++i) {
    speeds.note(0, first, microseconds(2));
    speeds.note(1, second, microseconds(2));
  }
  speeds.end_window();
}

TEST(WorkerSpeeds, AreAlikeWhileNothingIsKnown) {
  EXPECT_EQ(WorkerSpeeds(3).get(), std::vector<double>({1, 1, 1}));
}

TEST(WorkerSpeeds, ComeNearWhatIsSeenInAFewWindows) {
  WorkerSpeeds speeds(2);
  for (int window = 0; window < 6; ++window)
    run_window(speeds, 8, microseconds(2), microseconds(4));
  EXPECT_NEAR(ratio(speeds), 0.5, 0.02);
  for (int window = 0; window < 8; ++window)
    run_window(speeds, 8, microseconds(2), microseconds(2));
  EXPECT_NEAR(ratio(speeds), 1, 0.02);
}

TEST(WorkerSpeeds, WaitForEnoughOfEveryWorker) {
  WorkerSpeeds speeds(2);
  for (int i = 0; i < 100; ++i)
    speeds.note(1, microseconds(4), microseconds(2));
  speeds.end_window();
  EXPECT_EQ(ratio(speeds), 1);
  for (int window = 0; window < 8; ++window) {
    speeds.note(0, microseconds(2), microseconds(2));
    speeds.end_window();
  }
  EXPECT_NEAR(ratio(speeds), 0.75, 0.001);
}

TEST(WorkerSpeeds, CountALostProcessorAsASlowTaskOnly) {
  WorkerSpeeds speeds(2);
  for (int i = 0; i < 31; ++i)
    speeds.note(1, microseconds(2), microseconds(2));
  speeds.note(1, microseconds(20'000), microseconds(2));
  run_window(speeds, 32, microseconds(2), microseconds(2));
  EXPECT_GT(ratio(speeds), 0.95);
}

TEST(WorkerSpeeds, WantOneTaskInSixteenOfEachWorker) {
  WorkerSpeeds speeds(2);
  int wanted[2] = {};
  for (int task = 0; task < 160; ++task) {
    for (const uint32_t worker : {0U, 1U})
      wanted[worker] += speeds.wants_next(worker) ? 1 : 0;
  }
  EXPECT_EQ(wanted[0], 10);
  EXPECT_EQ(wanted[1], 10);
}

}  // namespace
}  // namespace sluice::megakernel
