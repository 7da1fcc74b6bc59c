// What HostExecutor promises beside order: scratch, errors, growth, idle cost, any worker count.
#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstring>
#include <functional>
#include <mutex>
#include <set>
#include <stdexcept>
#include <thread>

#include <gtest/gtest.h>
#include <sys/resource.h>

#include "base/assert.hpp"
#include "megakernel/host/host_executor.hpp"
#include "megakernel/host/task_times.hpp"
#include "megakernel/window_builder.hpp"
#include "sanitized.hpp"

namespace sluice::megakernel {
namespace {

using testing::all_table;
using testing::WindowBuilder;

TEST(HostExecutor, CountsTheProcessorsWhereNoNumberIsGiven) {
  EXPECT_GE(HostExecutor(0).workers(), 1U);
  EXPECT_EQ(HostExecutor(3).workers(), 3U);
}

TEST(HostExecutor, AnEmptyWindowIsDoneAtOnce) {
  HostExecutor executor(2);
  executor.run(Window{});
  SUCCEED() << "run() returned";
}

TEST(HostExecutor, DenseFanInWaitsForTheWholeMaster) {
  HostExecutor executor(4);
  for (int round = 0; round < 50; ++round) {
    const Dim3 wide{64, 1, 1};
    const Dim3 narrow{3, 1, 1};
    std::atomic<uint32_t> produced{0};
    std::atomic<uint32_t> seen_less{0};
    WindowBuilder builder;
    builder.add_launch(wide, 3, [&](uint32_t, void*) { ++produced; });
    builder.add_launch(narrow, 1, [&](uint32_t, void*) {
      if (produced.load() != 64) ++seen_less;
    });
    builder.depend(0, all_table(wide, narrow));
    builder.add_tasks_in_launch_order();
    executor.run(builder.window);
    ASSERT_EQ(produced.load(), 64U);
    ASSERT_EQ(seen_less.load(), 0U);
  }
}

TEST(HostExecutor, ReachesMilestonesInOrderWhenTheLaunchesBeforeThemAreDone) {
  for (const uint32_t workers : {1U, 4U}) {
    HostExecutor executor(workers);
    const Dim3 grid{16, 1, 1};
    std::atomic<uint32_t> blocks[4] = {};
    std::vector<uint32_t> reached;
    bool too_early = false;
    WindowBuilder builder;
    for (auto& of_launch : blocks)
      builder.add_launch(grid, 3, [&of_launch](uint32_t, void*) { ++of_launch; });
    builder.add_tasks_in_launch_order();
    // No launch waits for another one: the last may be done first.
    std::ranges::reverse(builder.plan.tasks);
    for (const uint32_t launches : {1U, 3U, 3U}) {
      const auto place = static_cast<uint32_t>(builder.window.milestones.size());
      builder.window.milestones.push_back({[&, launches] {
                                             reached.push_back(launches);
                                             for (uint32_t i = 0; i < launches; ++i)
                                               too_early |= blocks[i].load() != 16;
                                           },
                                           {}});
      if (place > 0) builder.window.milestones.back().after = {place - 1};
    }
    builder.window.milestone_of = {0, 1, 1, no_milestone};
    executor.run(builder.window);
    EXPECT_EQ(reached, (std::vector<uint32_t>{1, 3, 3}));
    EXPECT_FALSE(too_early);
  }
}

// As of two streams: the second one's waits for one of the first, and they have no order else.
TEST(HostExecutor, AMilestoneWaitsForItsOwnLaunchesAndForThoseThatItComesAfter) {
  for (const uint32_t workers : {1U, 4U}) {
    HostExecutor executor(workers);
    std::atomic<uint32_t> blocks[3] = {};
    std::vector<uint32_t> reached;
    std::mutex mutex;
    WindowBuilder builder;
    for (auto& of_launch : blocks)
      builder.add_launch({16, 1, 1}, 3, [&of_launch](uint32_t, void*) { ++of_launch; });
    builder.add_tasks_in_launch_order();
    std::ranges::reverse(builder.plan.tasks);
    const auto add = [&](uint32_t number, std::vector<uint32_t> launches,
                         std::vector<uint32_t> after) {
      builder.window.milestones.push_back({[&, number, launches] {
                                             for (const uint32_t launch : launches)
                                               EXPECT_EQ(blocks[launch].load(), 16U);
                                             const std::lock_guard lock(mutex);
                                             reached.push_back(number);
                                           },
                                           std::move(after)});
    };
    add(0, {}, {});             // nothing before it
    add(1, {1}, {0});           // of the first stream
    add(2, {0, 1, 2}, {1, 0});  // of the second, after the first one's
    add(3, {1}, {1});           // the first one's end, without launches of its own
    builder.window.milestone_of = {2, 1, 2};
    executor.run(builder.window);
    EXPECT_EQ(reached.size(), 4U);
    EXPECT_EQ(reached.front(), 0U);
    const auto place = [&](uint32_t number) { return std::ranges::find(reached, number); };
    EXPECT_LT(place(1), place(2));
    EXPECT_LT(place(1), place(3));
  }
}

TEST(HostExecutor, AFailedWindowReachesItsMilestones) {
  HostExecutor executor(2);
  WindowBuilder builder;
  uint32_t reached = 0;
  for (uint32_t i = 0; i < 3; ++i) {
    builder.add_launch({4, 1, 1}, 1, [](uint32_t, void*) { throw std::runtime_error("a block"); });
    builder.window.milestones.push_back({[&] { ++reached; }, {}});
    if (i > 0) builder.window.milestones.back().after = {i - 1};
    builder.window.milestone_of.push_back(i);
  }
  builder.add_tasks_in_launch_order();
  EXPECT_THROW(executor.run(builder.window), std::runtime_error);
  EXPECT_EQ(reached, 3U);
}

TEST(HostExecutor, TimesEachTaskOnceAndNamesWhatDelayedIt) {
  HostExecutor executor(3);
  const Dim3 wide{40, 1, 1}, narrow{2, 1, 1};
  WindowBuilder builder;
  const auto nap = [](uint32_t, void*) {
    std::this_thread::sleep_for(std::chrono::microseconds(50));
  };
  builder.add_launch(wide, 4, nap);
  builder.add_launch(wide, 4, nap);
  builder.depend(0, testing::cross_table(wide));
  builder.add_launch(narrow, 1, nap);
  builder.depend(1, all_table(wide, narrow));
  builder.add_tasks_in_launch_order();
  TaskTimes times(executor.workers());
  executor.run(builder.window, &times);

  std::vector<TaskTimes::Run> runs(22);
  std::vector<uint32_t> seen(22, 0);
  for (const TaskTimes::Worker& worker : times.workers) {
    int64_t free = 0;
    for (const TaskTimes::Run& run : worker.runs) {
      ASSERT_LT(run.ticket, 22U);
      ++seen[run.ticket];
      runs[run.ticket] = run;
      EXPECT_LE(free, run.taken);  // a worker does one thing at a time
      EXPECT_LE(run.taken, run.begun);
      EXPECT_LT(run.begun, run.ended);
      free = run.ended;
    }
  }
  EXPECT_EQ(seen, std::vector<uint32_t>(22, 1));
  for (uint32_t task = 0; task < 10; ++task) {
    for (uint32_t master = task == 0 ? 0 : task - 1; master <= std::min(task + 1, 9U); ++master)
      EXPECT_LE(runs[master].ended, runs[10 + task].begun);
    EXPECT_LE(runs[10 + task].ended, runs[20].begun);
  }
  for (const TaskTimes::Worker& worker : times.workers) {
    for (const TaskTimes::Delay& delay : worker.delays) {
      const bool by_whole = delay.master_task == TaskTimes::whole_launch;
      EXPECT_EQ(by_whole, delay.master_launch == 1) << "ticket " << delay.ticket;
      if (!by_whole) {
        EXPECT_LE(runs[delay.master_task].ended, runs[delay.ticket].begun);
      }
    }
  }
}

TEST(HostExecutor, FlagsStayRightWhenTheirArrayGrows) {
  HostExecutor executor(2);
  for (uint32_t blocks = 1; blocks < 3000; blocks = blocks * 2 + 1) {
    for (int repeat = 0; repeat < 3; ++repeat) {
      std::vector<uint32_t> first(blocks, 0);
      std::vector<uint32_t> second(blocks, 0);
      const Dim3 grid{blocks, 1, 1};
      WindowBuilder builder;
      builder.add_launch(grid, 1, [&](uint32_t block, void*) { first[block] = block + 1; });
      builder.add_launch(grid, 1, [&](uint32_t block, void*) { second[block] = first[block]; });
      builder.depend(0, testing::offset_table(grid, {{0, 0, 0}}));
      builder.add_tasks_in_launch_order();
      executor.run(builder.window);
      ASSERT_EQ(first, second);
      ASSERT_EQ(second.back(), blocks);
    }
  }
}

TEST(HostExecutor, ScratchIsAlignedAndAWorkersOwn) {
  HostExecutor executor(4);
  std::atomic<uint32_t> wrong{0};
  for (const uint64_t bytes : {uint64_t{64}, uint64_t{100'000}, uint64_t{1'000}}) {
    WindowBuilder builder;
    builder.add_launch(
        {40, 1, 1}, 2,
        [&wrong, bytes](uint32_t block, void* scratch) {
          if (reinterpret_cast<uintptr_t>(scratch) % 64 != 0) ++wrong;
          auto* memory = static_cast<unsigned char*>(scratch);
          std::memset(memory, static_cast<int>(block), bytes);
          std::this_thread::yield();
          if (memory[0] != block || memory[bytes - 1] != block) ++wrong;
        },
        bytes);
    builder.add_tasks_in_launch_order();
    executor.run(builder.window);
  }
  EXPECT_EQ(wrong.load(), 0U);
}

TEST(HostExecutor, WhatABlockThrowsIsThrownByRunAndTheNextWindowRuns) {
  HostExecutor executor(4);
  const Dim3 grid{32, 1, 1};
  for (uint32_t bad = 0; bad < 32; bad += 5) {
    WindowBuilder builder;
    builder.add_launch(grid, 1, [bad](uint32_t block, void*) {
      if (block == bad) throw AssertionFailure{"block", "test", static_cast<int>(bad)};
    });
    std::atomic<uint32_t> slaves{0};
    builder.add_launch(grid, 1, [&](uint32_t, void*) { ++slaves; });
    builder.depend(0, all_table(grid, grid));
    builder.add_tasks_in_launch_order();
    EXPECT_THROW(executor.run(builder.window), AssertionFailure);
    EXPECT_EQ(slaves.load(), 0U);
  }
  std::atomic<uint32_t> runs{0};
  WindowBuilder builder;
  builder.add_launch(grid, 1, [&](uint32_t, void*) { ++runs; });
  builder.add_tasks_in_launch_order();
  executor.run(builder.window);
  EXPECT_EQ(runs.load(), 32U);
}

// Thread time, not wall time: a busy machine makes the test longer, never red.
double process_seconds() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  const auto seconds = [](const timeval& t) {
    return static_cast<double>(t.tv_sec) + 1e-6 * static_cast<double>(t.tv_usec);
  };
  return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

TEST(HostExecutor, WaitingAndIdleWorkersTakeNoProcessorTime) {
  HostExecutor executor(4);
  const auto nap = std::chrono::milliseconds(500);
  WindowBuilder builder;
  builder.add_launch({1, 1, 1}, 1, [&](uint32_t, void*) { std::this_thread::sleep_for(nap); });
  builder.add_launch({3, 1, 1}, 1, [](uint32_t, void*) {});
  builder.depend(0, all_table({1, 1, 1}, {3, 1, 1}));
  builder.add_tasks_in_launch_order();
  const double before = process_seconds();
  executor.run(builder.window);
  std::this_thread::sleep_for(nap);
  // Three workers that spun through the window and the pause would take 3 seconds.
  EXPECT_LT(process_seconds() - before, 0.25);
}

// A sanitizer multiplies what a window costs, in which the wait is.
#if SLUICE_IS_SANITIZED
constexpr double allowed_seconds = 0.004;
#else
constexpr double allowed_seconds = 0.001;
#endif

// The mean over many waits, so that what starting threads costs once does not count as waiting.
void expect_short_spins(bool in_queues) {
  constexpr int waits = 40;
  HostExecutor executor(2);
  const auto nap = std::chrono::milliseconds(10);
  double before = 0;
  for (int i = -2; i < waits; ++i) {
    if (i == 0) before = process_seconds();
    WindowBuilder builder;
    builder.add_launch({1, 1, 1}, 1, [&](uint32_t, void*) { std::this_thread::sleep_for(nap); });
    builder.add_launch({2, 1, 1}, 1, [](uint32_t, void*) {});
    builder.depend(0, all_table({1, 1, 1}, {2, 1, 1}));
    builder.add_tasks_in_launch_order();
    if (in_queues) {
      builder.plan.queue_tickets = {0, 1, 2};
      builder.plan.queue_ends = {2, 3};
    }
    executor.run(builder.window);
  }
  EXPECT_LT(process_seconds() - before, waits * allowed_seconds);
}

TEST(HostExecutor, AWaitBurnsLessThanAMillisecond) {
  expect_short_spins(false);
}

TEST(HostExecutor, AWaitBurnsLessThanAMillisecondWithWorkerQueues) {
  expect_short_spins(true);
}

// Threads is who has run a block.
class Threads {
 public:
  void note() {
    const std::lock_guard lock(mutex_);
    seen_.insert(std::this_thread::get_id());
  }
  std::set<std::thread::id> seen() {
    const std::lock_guard lock(mutex_);
    return seen_;
  }

 private:
  std::mutex mutex_;
  std::set<std::thread::id> seen_;
};

// Two workers run a launch of eight blocks, the calling thread's first block waiting for as many
// threads as are wanted.
std::set<std::thread::id> who_runs(HostExecutor& executor, size_t wanted,
                                   const std::function<void(uint32_t)>& block = {}) {
  Threads threads;
  WindowBuilder builder;
  builder.add_launch({8, 1, 1}, 1, [&](uint32_t number, void*) {
    threads.note();
    if (block) block(number);
    for (int i = 0; i < 5000 && threads.seen().size() < wanted; ++i)
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
  });
  builder.add_tasks_in_launch_order();
  executor.run(builder.window);
  return threads.seen();
}

TEST(HostExecutor, TheCallingThreadRunsWindowsAloneAfterWorkersStarved) {
  Starvation::Time now;
  Starvation starvation([&] { return now; }, [] { return false; });
  HostExecutor executor(2, &starvation);
  EXPECT_EQ(who_runs(executor, 2).size(), 2U);
  starvation.starve();
  EXPECT_EQ(who_runs(executor, 1), std::set{std::this_thread::get_id()});
  now += std::chrono::seconds(1);
  EXPECT_EQ(who_runs(executor, 2).size(), 2U);
}

TEST(HostExecutor, UnderContentionTheCallingThreadRunsTheFirstWindowsAlone) {
  Starvation::Time now;
  Starvation starvation([&] { return now; }, [] { return true; });
  HostExecutor executor(2, &starvation);
  EXPECT_EQ(who_runs(executor, 1), std::set{std::this_thread::get_id()});
}

// The other worker is in its first block when it is to leave: it takes no second one.
TEST(HostExecutor, WorkersLeaveAWindowThatTheyStarveIn) {
  Starvation::Time now;
  Starvation starvation([&] { return now; }, [] { return false; });
  HostExecutor executor(2, &starvation);
  const std::thread::id caller = std::this_thread::get_id();
  std::atomic<int> others{0};
  who_runs(executor, 2, [&](uint32_t) {
    if (std::this_thread::get_id() == caller) return;
    ++others;
    starvation.starve();
  });
  EXPECT_EQ(others.load(), 1);
}

// Windows of a launch that costs so much, in the queues of two workers.
bool has_short_launches(std::chrono::nanoseconds block, bool has_queues = true) {
  schedule::BlockCost cost;
  if (block.count() != 0) cost.note(block, 1);
  WindowBuilder builder;
  builder.add_launch({100, 1, 1}, 1, [](uint32_t, void*) {});
  builder.window.code[0].cost = &cost;
  if (has_queues) builder.plan.queue_ends = {50, 100};
  WindowWork work(2, nullptr);
  work.open(builder.window, nullptr);
  return work.has_short_launches();
}

TEST(WindowWork, HasShortLaunchesWhereTheyAreMeasuredAndInQueues) {
  using std::chrono::microseconds;
  EXPECT_TRUE(has_short_launches(microseconds(1)));
  EXPECT_FALSE(has_short_launches(microseconds(100)));
  EXPECT_FALSE(has_short_launches(microseconds(0)));
  EXPECT_FALSE(has_short_launches(microseconds(1), false));
}

}  // namespace
}  // namespace sluice::megakernel
