// When windows close: at once while the device is idle, and never later than someone could look.
#include <fstream>
#include <thread>

#include "runtime/runtime_fixture.hpp"

namespace sluice::runtime {
namespace {

using ::testing::ElementsAre;
using testing::PingPong;
using ::testing::SizeIs;

class WindowTest : public testing::RuntimeTest {
 protected:
  void launch(uint32_t t, const StreamKey& stream = {}) {
    ASSERT_EQ(program.launch(*runtime, kernels["step"], t, stream), 0);
  }

  PingPong program{64};
};

StreamKey stream(uintptr_t number) {
  return {nullptr, reinterpret_cast<void*>(number * 16)};
}

TEST_F(WindowTest, ALaunchGoesOutAtOnceWhileTheDeviceIsIdle) {
  start();
  program.allocate_in(*runtime);
  for (uint32_t t = 0; t < 5; ++t) {
    launch(t);
    EXPECT_THAT(device.events(), SizeIs(t + 1));
    device.wait_idle();
  }
}

TEST_F(WindowTest, LaunchesCollectWhileTheDeviceIsBusyAndFollowWithoutAnyCall) {
  start();
  program.allocate_in(*runtime);
  device.pause();
  for (uint32_t t = 0; t < 10; ++t) {
    launch(t);
  }
  EXPECT_THAT(device.events(), ElementsAre("window 0"));
  device.resume();
  // Nobody flushes: a host that only polls memory must see the launches happen.
  device.wait_idle();
  EXPECT_THAT(device.events(), ElementsAre("window 0", "window 0"));
  PingPong expected(64);
  for (uint32_t t = 0; t < 10; ++t) {
    expected.step(t);
  }
  EXPECT_EQ(program, expected);
}

TEST_F(WindowTest, FlushPutsWhatWasHeldBackIntoTheStreamBeforeItReturns) {
  start();
  program.allocate_in(*runtime);
  device.pause();
  launch(0);
  launch(1);
  launch(2);
  runtime->flush();
  EXPECT_THAT(device.events(), ElementsAre("window 0", "window 0"));
  runtime->flush();
  EXPECT_THAT(device.events(), SizeIs(2));
  device.resume();
}

TEST_F(WindowTest, AWindowClosesAtItsLimit) {
  start(Config{.window_launches = 4});
  program.allocate_in(*runtime);
  device.pause();
  for (uint32_t t = 0; t < 9; ++t) {
    launch(t);
  }
  // One launch at once, two full windows of four.
  EXPECT_THAT(device.events(), SizeIs(3));
  device.resume();
}

// Case 20 of the known answers: no window is too small for a launch, so none hangs.
TEST_F(WindowTest, AWindowOfNoLaunchesHoldsOne) {
  start(Config{.window_launches = 0});
  program.allocate_in(*runtime);
  device.pause();
  for (uint32_t t = 0; t < 3; ++t) {
    launch(t);
  }
  EXPECT_THAT(device.events(), SizeIs(3));
  device.resume();
  synchronise();
}

TEST_F(WindowTest, LaunchBlocksWhileManyWindowsAreQueuedAndGoesOnWhenHalfHaveEnded) {
  start();
  program.allocate_in(*runtime);
  device.pause();
  constexpr uint32_t launches = 4000;
  std::atomic<uint32_t> launched{0};
  std::thread host([&] {
    for (uint32_t t = 0; t < launches; ++t) {
      launch(t);
      ++launched;
    }
  });
  while (launched.load() < 2048) {
    std::this_thread::yield();
  }
  // So many launches are queued at eight windows and the first launch; a window more is held back.
  EXPECT_LE(launched.load(), 2048U + 256U);
  device.resume();
  host.join();
  synchronise();
  EXPECT_EQ(launched.load(), launches);
  PingPong expected(64);
  for (uint32_t t = 0; t < launches; ++t) {
    expected.step(t);
  }
  EXPECT_EQ(program, expected);
}

// What the streams wait for may be this thread: 1024 launches of each never wait, as in CUDA.
TEST_F(WindowTest, AThreadFillsManyStreamsWithoutWaiting) {
  start();
  program.allocate_in(*runtime);
  device.pause();
  for (uintptr_t stream = 1; stream <= 5; ++stream) {
    for (uint32_t t = 0; t < 1024; ++t)
      program.launch(*runtime, kernels["step"], t, {nullptr, reinterpret_cast<void*>(16 * stream)});
  }
  device.resume();
  synchronise();
  EXPECT_EQ(runtime->counters().launches, 5U * 1024U);
}

// Threads' own default streams have one handle.
TEST_F(WindowTest, ThreadsFillTheirOwnDefaultStreamsWithoutWaiting) {
  start();
  program.allocate_in(*runtime);
  device.pause();
  for (int i = 0; i < 5; ++i) {
    std::thread([&] {
      for (uint32_t t = 0; t < 1024; ++t)
        program.launch(*runtime, kernels["step"], t, {nullptr, StreamKey::per_thread});
    }).join();
  }
  device.resume();
  synchronise();
  EXPECT_EQ(runtime->counters().launches, 5U * 1024U);
}

// A driver's call for a full stream waits for what may need the runtime's lock.
TEST_F(WindowTest, UnderTheLockNoCallOfTheDriverWaitsForRoom) {
  start();
  program.allocate_in(*runtime);
  device.enqueue_error = 1;
  bool may_wait = true;
  const auto look = [&] { may_wait = !device.never_waits; };
  device.within_launch = look;
  launch(0);
  EXPECT_FALSE(may_wait);
  device.within_launch = look;
  EXPECT_EQ(launch_plain("opaque"), 0);
  EXPECT_TRUE(may_wait);
}

std::atomic<uint32_t> tasks_of_one_block{0};
std::atomic<uint32_t> larger_tasks{0};

// Each block takes longer than a task may.
void run_slow_step(const SluiceBlockLaunch* launch, uint32_t first_block, uint32_t block_count,
                   void* memory) {
  ++(block_count == 1 ? tasks_of_one_block : larger_tasks);
  std::this_thread::sleep_for(block_count * std::chrono::microseconds(40));
  testing::run_step(launch, first_block, block_count, memory);
}

// A program that gives all its launches at once has most of them planned before the first has run.
TEST_F(WindowTest, AWindowKnowsWhatBlocksCostInTheWindowsBefore) {
  kernels["step"].run = run_slow_step;
  PingPong large(64 * testing::cells_per_block);
  start();
  large.allocate_in(*runtime);
  device.pause();
  for (uint32_t t = 0; t < 3; ++t)
    ASSERT_EQ(large.launch(*runtime, kernels["step"], t), 0);
  runtime->flush();
  device.resume();
  synchronise();
  EXPECT_EQ(larger_tasks.exchange(0), 16U);  // of the first launch
  EXPECT_EQ(tasks_of_one_block.exchange(0), 128U);
  PingPong expected(64 * testing::cells_per_block);
  for (uint32_t t = 0; t < 3; ++t)
    expected.step(t);
  EXPECT_EQ(large, expected);
}

TEST_F(WindowTest, ALaunchClosesTheWindowOfAnotherStreamThatItDependsOn) {
  start();
  program.allocate_in(*runtime);
  launch(0, stream(1));
  device.wait_idle();
  launch(1, stream(2));
  device.wait_idle();
  device.pause();
  launch(2, stream(1));
  launch(3, stream(1));
  launch(4, stream(1));
  launch(5, stream(2));
  launch(6, stream(2));
  launch(7, stream(1));
  runtime->flush();
  EXPECT_THAT(device.events(), ElementsAre("window 16", "window 32", "window 16", "window 16",
                                           "window 32", "window 32", "window 16"));
  device.resume();
  device.wait_idle();
  PingPong expected(64);
  for (uint32_t t = 0; t < 8; ++t) {
    expected.step(t);
  }
  EXPECT_EQ(program, expected);
}

// The work of another stream may be waiting for this launch, with a host that makes no more calls.
TEST_F(WindowTest, ALaunchWithNothingBeforeItInItsStreamGoesOutAtOnce) {
  start();
  program.allocate_in(*runtime);
  launch(0, stream(2));
  device.wait_idle();
  device.pause();
  launch(1, stream(1));
  launch(2, stream(2));
  EXPECT_THAT(device.events(), ElementsAre("window 32", "window 16", "window 32"));
  device.resume();
}

TEST_F(WindowTest, EachStreamCollectsItsOwnLaunches) {
  start();
  PingPong other{64};
  program.allocate_in(*runtime);
  other.allocate_in(*runtime);
  launch(0, stream(1));
  ASSERT_EQ(other.launch(*runtime, kernels["step"], 0, stream(2)), 0);
  device.wait_idle();
  device.pause();
  for (uint32_t t = 1; t < 9; ++t) {
    launch(t, stream(1));
    ASSERT_EQ(other.launch(*runtime, kernels["step"], t, stream(2)), 0);
  }
  // The first of each went out at once, the others wait for it side by side.
  EXPECT_THAT(device.events(), ElementsAre("window 16", "window 32", "window 16", "window 32"));
  device.resume();
  device.wait_idle();
  EXPECT_THAT(device.events(), SizeIs(6));
  PingPong expected(64);
  for (uint32_t t = 0; t < 9; ++t) {
    expected.step(t);
  }
  EXPECT_EQ(program, expected);
  EXPECT_EQ(other, expected);
}

TEST_F(WindowTest, TheLegacyStreamKeepsItsPlaceAmongTheOthers) {
  start();
  PingPong other{64};
  program.allocate_in(*runtime);
  other.allocate_in(*runtime);
  launch(0, stream(1));
  device.wait_idle();
  device.pause();
  launch(1, stream(1));
  launch(2, stream(1));
  ASSERT_EQ(other.launch(*runtime, kernels["step"], 0), 0);
  ASSERT_EQ(other.launch(*runtime, kernels["step"], 1), 0);
  launch(3, stream(1));
  runtime->flush();
  EXPECT_THAT(device.events(), ElementsAre("window 16", "window 16", "window 16", "window 0",
                                           "window 0", "window 16"));
  device.resume();
  device.wait_idle();  // before the other data goes
}

TEST_F(WindowTest, ManyStreamsComeAndGo) {
  start();
  program.allocate_in(*runtime);
  PingPong expected(64);
  for (uint32_t t = 0; t < 2000; ++t) {
    launch(t, stream(t + 1));
    expected.step(t);
  }
  synchronise();
  EXPECT_EQ(program, expected);
}

TEST_F(WindowTest, ThePerThreadStreamIsNeverLeftToAnotherThread) {
  start();
  program.allocate_in(*runtime);
  device.pause();
  const StreamKey per_thread{nullptr, StreamKey::per_thread};
  for (uint32_t t = 0; t < 3; ++t) {
    launch(t, per_thread);
  }
  EXPECT_THAT(device.events(), ElementsAre("window 2", "window 2", "window 2"));
  device.resume();
}

TEST_F(WindowTest, FinishWaitsForAllAndLaterLaunchesPass) {
  start();
  program.allocate_in(*runtime);
  for (uint32_t t = 0; t < 20; ++t) {
    launch(t);
  }
  runtime->finish();
  PingPong expected(64);
  for (uint32_t t = 0; t < 20; ++t) {
    expected.step(t);
  }
  EXPECT_EQ(program, expected);
  launch(20);
  EXPECT_EQ(device.events().back(), "launch step");
  EXPECT_EQ(runtime->counters().launches, 20U);
  runtime->finish();
}

TEST_F(WindowTest, FinishLeavesWhatCannotBeginToTheDevice) {
  start();
  program.allocate_in(*runtime);
  device.pause();
  for (uint32_t t = 0; t < 4; ++t)
    launch(t);
  runtime->finish(std::chrono::milliseconds(1));
  device.resume();
  device.wait_idle();
  PingPong expected(64);
  for (uint32_t t = 0; t < 4; ++t)
    expected.step(t);
  EXPECT_EQ(program, expected);
}

TEST_F(WindowTest, WhereTheDeviceTakesNoWindowTheLaunchesGoOneByOne) {
  start();
  program.allocate_in(*runtime);
  launch(0);
  device.wait_idle();
  device.enqueue_error = 801;  // CUDA_ERROR_NOT_SUPPORTED
  launch(1);
  launch(2);
  device.wait_idle();
  EXPECT_THAT(device.events(), ElementsAre("window 0", "launch step", "launch step"));
  PingPong expected(64);
  for (uint32_t t = 0; t < 3; ++t) {
    expected.step(t);
  }
  EXPECT_EQ(program, expected);
}

}  // namespace
}  // namespace sluice::runtime
