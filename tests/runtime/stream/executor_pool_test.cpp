// Windows of several streams run side by side.
#include "runtime/stream/executor_pool.hpp"

#include <atomic>
#include <thread>

#include <gtest/gtest.h>

#include "megakernel/window_builder.hpp"

namespace sluice::runtime {
namespace {

using megakernel::testing::WindowBuilder;

// A window whose only block ends when all windows of the test have begun.
void add_meeting(WindowBuilder& builder, std::atomic<int>& begun, int windows) {
  builder.add_launch({1, 1, 1}, 1, [&begun, windows](uint32_t, void*) {
    ++begun;
    while (begun.load() < windows)
      std::this_thread::yield();
  });
  builder.add_tasks_in_launch_order();
}

TEST(ExecutorPool, RunsAsManyWindowsAtOnceAsThereAreWorkersAndOneMore) {
  constexpr int windows = 3;
  ExecutorPool pool(windows - 1);
  for (int round = 0; round < 20; ++round) {
    std::atomic<int> begun{0};
    std::vector<WindowBuilder> builders(windows);
    std::vector<std::thread> streams;
    for (WindowBuilder& builder : builders) {
      add_meeting(builder, begun, windows);
      streams.emplace_back([&] { pool.run(builder.window); });
    }
    for (std::thread& stream : streams)
      stream.join();
    EXPECT_EQ(begun.load(), windows);
  }
}

TEST(ExecutorPool, AWindowThatFindsNoExecutorWaitsForOne) {
  ExecutorPool pool(1);
  std::atomic<int> runs{0};
  std::vector<std::thread> streams;
  for (int stream = 0; stream < 8; ++stream) {
    streams.emplace_back([&] {
      for (int i = 0; i < 50; ++i) {
        WindowBuilder builder;
        builder.add_launch({4, 1, 1}, 1, [&](uint32_t, void*) { ++runs; });
        builder.add_tasks_in_launch_order();
        pool.run(builder.window);
      }
    });
  }
  for (std::thread& stream : streams)
    stream.join();
  EXPECT_EQ(runs.load(), 8 * 50 * 4);
}

TEST(ExecutorPool, AWindowThatThrowsGivesItsExecutorBack) {
  ExecutorPool pool(1);
  for (int i = 0; i < 5; ++i) {
    WindowBuilder builder;
    builder.add_launch({1, 1, 1}, 1, [](uint32_t, void*) { throw 1; });
    builder.add_tasks_in_launch_order();
    EXPECT_THROW(pool.run(builder.window), int);
  }
}

}  // namespace
}  // namespace sluice::runtime
