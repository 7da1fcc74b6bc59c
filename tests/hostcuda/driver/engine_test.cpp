#include "hostcuda/driver/stream/engine.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <future>
#include <stdexcept>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "hostcuda/driver/stream/joined_work.hpp"

namespace sluice::hostcuda {
namespace {

using Queue = std::shared_ptr<StreamQueue>;

// An engine's threads never end, so the engines of these tests don't either.
Engine& make_engine() {
  return *new Engine(*new BlockPool(2));
}

Queue make_queue(QueueKind kind) {
  return hostcuda::make_queue(kind, least_stream_priority);
}

// hold() submits a function of the program that ends when the future is ready.
Ticket hold(Engine& engine, const Queue& queue, std::shared_future<void> until) {
  class Hold final : public Work {
   public:
    explicit Hold(std::shared_future<void> until) : until_(std::move(until)) {}
    CUresult run(BlockPool&) const override {
      until_.wait();
      return CUDA_SUCCESS;
    }
    bool calls_the_program() const override { return true; }

   private:
    std::shared_future<void> until_;
  };
  return engine.submit(queue, std::make_shared<const Hold>(std::move(until)));
}

TEST(Engine, RunsAQueueInItsOrder) {
  Engine& engine = make_engine();
  const Queue queue = make_queue(QueueKind::blocking);
  std::vector<int> order;
  Ticket last;
  for (int i = 0; i < 1000; ++i) {
    last = engine.submit(queue, [&order, i] { order.push_back(i); });
    EXPECT_EQ(last.number, static_cast<uint64_t>(i) + 1);
  }
  EXPECT_EQ(engine.wait(last), CUDA_SUCCESS);
  ASSERT_EQ(order.size(), 1000u);
  for (int i = 0; i < 1000; ++i)
    EXPECT_EQ(order[static_cast<size_t>(i)], i);
}

// Work of two streams begins behind both, and each goes on by itself.
TEST(Engine, StreamsGoOnAfterWorkOfSeveralWhenTheirPromisesAreKept) {
  Engine& engine = make_engine();
  std::atomic<bool> open{false};
  const Queue first = make_queue(QueueKind::blocking), second = make_queue(QueueKind::non_blocking);
  const Queue line = make_queue(QueueKind::non_blocking);
  std::atomic<int> before{0};
  for (const Queue& queue : {first, second}) {
    engine.submit(queue, [&] {
      while (!open.load())
        std::this_thread::yield();
      ++before;
    });
  }
  const JoinedWork::Part parts[] = {{first, StreamOrder::promise(line)},
                                    {second, StreamOrder::promise(line)}};
  std::atomic<int> seen{-1};
  JoinedWork(engine).submit(line, std::make_shared<const FunctionWork>([&] {
                              seen = before.load();
                              engine.keep(parts[1].end);
                            }),
                            {parts[0], parts[1]});
  const Ticket behind_first = engine.submit(first, [] {});
  const Ticket behind_second = engine.submit(second, [] {});
  EXPECT_TRUE(JoinedWork(engine).ends_by_itself(first));
  open = true;
  EXPECT_EQ(engine.wait(behind_second), CUDA_SUCCESS);
  EXPECT_EQ(seen, 2);
  EXPECT_FALSE(behind_first.is_done());
  engine.keep(parts[0].end);
  EXPECT_EQ(engine.wait(behind_first), CUDA_SUCCESS);
}

// ProgramWork is a function of the program that ends when `open` is set.
class ProgramWork final : public Work {
 public:
  explicit ProgramWork(const std::atomic<bool>& open) : open_(open) {}
  CUresult run(BlockPool&) const override {
    while (!open_.load())
      std::this_thread::yield();
    return CUDA_SUCCESS;
  }
  bool calls_the_program() const override { return true; }

 private:
  const std::atomic<bool>& open_;
};

TEST(Engine, WhatStandsBehindAFunctionOfTheProgramDoesNotEndByItself) {
  Engine& engine = make_engine();
  std::atomic<bool> open{false};
  const Queue queue = make_queue(QueueKind::non_blocking);
  const Queue waits = make_queue(QueueKind::non_blocking);
  const Queue blocking = make_queue(QueueKind::blocking);
  EXPECT_TRUE(JoinedWork(engine).ends_by_itself(queue));
  const Ticket function = engine.submit(queue, std::make_shared<const ProgramWork>(open));
  engine.submit(queue, [] {});
  EXPECT_FALSE(JoinedWork(engine).ends_by_itself(queue));
  // What waits for that, an event that it is to reach, and the streams that the legacy one orders.
  engine.submit(waits, std::make_shared<const FunctionWork>([] {}), {function});
  EXPECT_FALSE(JoinedWork(engine).ends_by_itself(waits));
  const Queue by_event = make_queue(QueueKind::non_blocking);
  const Ticket event = StreamOrder::promise(queue);
  engine.submit(by_event, std::make_shared<const FunctionWork>([] {}), {event});
  EXPECT_FALSE(JoinedWork(engine).ends_by_itself(by_event));
  EXPECT_TRUE(JoinedWork(engine).ends_by_itself(blocking));
  const Ticket legacy = engine.submit(engine.legacy(), std::make_shared<const ProgramWork>(open));
  EXPECT_FALSE(JoinedWork(engine).ends_by_itself(blocking));
  open = true;
  EXPECT_EQ(engine.wait({legacy, last_of(queue), last_of(waits)}), CUDA_SUCCESS);
  engine.keep(event);
  EXPECT_EQ(engine.wait(last_of(by_event)), CUDA_SUCCESS);
  for (const Queue& each : {queue, waits, by_event, blocking})
    EXPECT_TRUE(JoinedWork(engine).ends_by_itself(each));
}

TEST(Engine, WorkBehindAPromiseBeginsWhenItIsKept) {
  Engine& engine = make_engine();
  const Ticket promise = StreamOrder::promise(nullptr);
  EXPECT_FALSE(promise.is_done());
  std::atomic<bool> kept{false};
  std::atomic<bool> too_early{false};
  const Queue queue = make_queue(QueueKind::blocking);
  const auto look = [&] { too_early = too_early || !kept; };
  const Ticket behind = engine.submit(queue, std::make_shared<const FunctionWork>(look), {promise});
  // Other work of the engine goes on, and neither waits for the other.
  EXPECT_EQ(engine.wait(engine.submit(make_queue(QueueKind::blocking), [] {})), CUDA_SUCCESS);
  EXPECT_FALSE(behind.is_done());
  std::thread keeper([&] {
    kept = true;
    engine.keep(promise);
  });
  EXPECT_EQ(engine.wait(promise), CUDA_SUCCESS);
  EXPECT_EQ(engine.wait(behind), CUDA_SUCCESS);
  keeper.join();
  EXPECT_FALSE(too_early);
}

TEST(Engine, RunsOtherQueuesWhileManyAreHeld) {
  Engine& engine = make_engine();
  std::promise<void> release;
  const std::shared_future<void> until = release.get_future().share();
  std::vector<Ticket> held;
  for (int i = 0; i < 8; ++i)
    held.push_back(hold(engine, make_queue(QueueKind::non_blocking), until));
  const Queue other = make_queue(QueueKind::non_blocking);
  EXPECT_EQ(engine.wait(engine.submit(other, [] {})), CUDA_SUCCESS);
  for (const Ticket& ticket : held)
    EXPECT_FALSE(ticket.is_done());
  release.set_value();
  EXPECT_EQ(engine.wait(held), CUDA_SUCCESS);
}

// Functions of the program leave no threads behind by which the device would compute on more
// processors than there are.
TEST(Engine, ComputesOnItsProcessorsAfterManyFunctionsToo) {
  Engine& engine = make_engine();
  for (int round = 0; round < 3; ++round) {
    std::promise<void> release;
    const std::shared_future<void> until = release.get_future().share();
    std::vector<Ticket> last;
    for (int i = 0; i < 8; ++i)
      last.push_back(hold(engine, make_queue(QueueKind::non_blocking), until));
    // All of them are running when later work does.
    last.push_back(engine.submit(make_queue(QueueKind::non_blocking), [] {}));
    EXPECT_EQ(engine.wait(last.back()), CUDA_SUCCESS);
    release.set_value();
    std::atomic<int> inside{0}, greatest{0};
    for (int i = 0; i < 40; ++i) {
      last.push_back(engine.submit(make_queue(QueueKind::non_blocking), [&] {
        const int now = ++inside;
        for (int known = greatest; known < now && !greatest.compare_exchange_weak(known, now);) {
        }
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
        --inside;
      }));
    }
    EXPECT_EQ(engine.wait(last), CUDA_SUCCESS);
    EXPECT_LE(greatest.load(), 2);
  }
}

TEST(Engine, TheLegacyQueueWaitsForBlockingOnesAndTheyForIt) {
  Engine& engine = make_engine();
  const Queue blocking = make_queue(QueueKind::blocking);
  const Queue later = make_queue(QueueKind::blocking);
  const Queue free = make_queue(QueueKind::non_blocking);
  std::promise<void> release;
  std::vector<int> order;
  hold(engine, blocking, release.get_future().share());
  engine.submit(blocking, [&] { order.push_back(1); });
  const Ticket legacy = engine.submit(engine.legacy(), [&] { order.push_back(2); });
  const Ticket last = engine.submit(later, [&] { order.push_back(3); });
  EXPECT_EQ(engine.wait(engine.submit(free, [] {})), CUDA_SUCCESS);
  EXPECT_FALSE(legacy.is_done());
  EXPECT_FALSE(last.is_done());
  release.set_value();
  EXPECT_EQ(engine.wait(last), CUDA_SUCCESS);
  EXPECT_EQ(order, (std::vector<int>{1, 2, 3}));
}

TEST(Engine, InstantWorkIsDoneAtOnceWhereNothingIsLeftBeforeIt) {
  Engine& engine = make_engine();
  const Queue queue = make_queue(QueueKind::blocking);
  std::thread::id runner;
  const Ticket instant = engine.submit_instant(queue, [&] { runner = std::this_thread::get_id(); });
  EXPECT_TRUE(instant.is_done());
  EXPECT_EQ(runner, std::this_thread::get_id());
  EXPECT_TRUE(queue->is_idle());
  int later = 0;
  EXPECT_EQ(engine.wait(engine.submit(queue, [&] { later = 1; })), CUDA_SUCCESS);
  EXPECT_EQ(later, 1);
}

TEST(Engine, InstantWorkKeepsItsPlaceBehindOtherWork) {
  Engine& engine = make_engine();
  const Queue queue = make_queue(QueueKind::blocking);
  std::promise<void> release;
  hold(engine, queue, release.get_future().share());
  std::vector<int> order;
  const Ticket own = engine.submit_instant(queue, [&] { order.push_back(1); });
  const Ticket legacy = engine.submit_instant(engine.legacy(), [&] { order.push_back(2); });
  EXPECT_FALSE(own.is_done());
  EXPECT_FALSE(legacy.is_done());
  release.set_value();
  EXPECT_EQ(engine.wait(legacy), CUDA_SUCCESS);
  EXPECT_EQ(order, (std::vector<int>{1, 2}));
}

TEST(Engine, WorkBeginsAfterTheTicketsItNames) {
  Engine& engine = make_engine();
  const Queue first = make_queue(QueueKind::non_blocking);
  const Queue second = make_queue(QueueKind::non_blocking);
  std::promise<void> release;
  const Ticket held = hold(engine, first, release.get_future().share());
  bool ran_after = false;
  const Ticket after = engine.submit(
      second, std::make_shared<const FunctionWork>([&] { ran_after = held.is_done(); }), {held});
  EXPECT_FALSE(after.is_done());
  release.set_value();
  EXPECT_EQ(engine.wait(after), CUDA_SUCCESS);
  EXPECT_TRUE(ran_after);
}

TEST(Engine, TakesWorkFromWithinWork) {
  Engine& engine = make_engine();
  const Queue queue = make_queue(QueueKind::blocking);
  std::vector<int> order;
  const Ticket outer = engine.submit(queue, [&] {
    engine.submit(queue, [&order] { order.push_back(2); });
    order.push_back(1);
  });
  EXPECT_EQ(engine.wait(outer), CUDA_SUCCESS);
  EXPECT_EQ(engine.wait(last_of(queue)), CUDA_SUCCESS);
  EXPECT_EQ(order, (std::vector<int>{1, 2}));
}

TEST(Engine, RefusesToWaitWithinWorkForWorkThatIsNotDone) {
  Engine& engine = make_engine();
  const Queue queue = make_queue(QueueKind::blocking);
  CUresult itself = CUDA_SUCCESS;
  CUresult before = CUDA_ERROR_UNKNOWN;
  const Ticket first = engine.submit(queue, [] {});
  const Ticket second = engine.submit(queue, [&] {
    before = engine.wait(first);
    itself = engine.wait(Ticket{queue, first.number + 1});
  });
  EXPECT_EQ(engine.wait(second), CUDA_SUCCESS);
  EXPECT_EQ(before, CUDA_SUCCESS);
  EXPECT_EQ(itself, CUDA_ERROR_NOT_PERMITTED);
}

TEST(Engine, KeepsTheFirstErrorAndGoesOn) {
  Engine& engine = make_engine();
  const Queue queue = make_queue(QueueKind::blocking);
  engine.submit(queue, [] { throw std::runtime_error("first"); });
  bool ran = false;
  const Ticket last = engine.submit(queue, [&] { ran = true; });
  EXPECT_EQ(engine.wait(last), CUDA_ERROR_LAUNCH_FAILED);
  EXPECT_TRUE(ran);
  EXPECT_EQ(engine.error(), CUDA_ERROR_LAUNCH_FAILED);
}

TEST(Engine, ServesManyThreadsWithStreamsOfTheirOwn) {
  Engine& engine = make_engine();
  std::atomic<int> sum{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] {
      const Queue own = make_queue(t % 2 == 0 ? QueueKind::blocking : QueueKind::non_blocking);
      for (int i = 0; i < 300; ++i) {
        const Queue& queue = i % 7 == 0 ? engine.legacy() : own;
        const int before = sum.load();
        EXPECT_EQ(engine.wait(engine.submit(queue, [&] { ++sum; })), CUDA_SUCCESS);
        EXPECT_GT(sum.load(), before);
      }
    });
  }
  for (std::thread& thread : threads)
    thread.join();
  EXPECT_EQ(sum.load(), 1200);
}

// The one idle thread takes the waiting work; it may still be asleep when the other work comes.
TEST(Engine, RunsWorkThatOtherWorkOfTheDeviceWaitsFor) {
  Engine& engine = make_engine();
  const Queue waiting = make_queue(QueueKind::non_blocking);
  const Queue setting = make_queue(QueueKind::non_blocking);
  for (int round = 0; round < 5; ++round) {
    EXPECT_EQ(engine.wait(engine.submit(waiting, [] {})), CUDA_SUCCESS);
    std::this_thread::sleep_for(std::chrono::milliseconds(20));  // idle threads sleep by then
    std::promise<void> flag;
    std::future<void> is_set = flag.get_future();
    std::atomic<bool> seen{false};
    const Ticket waiter = engine.submit(waiting, [&] {
      seen = is_set.wait_for(std::chrono::seconds(20)) == std::future_status::ready;
    });
    const Ticket setter = engine.submit(setting, [&] { flag.set_value(); });
    EXPECT_EQ(engine.wait({waiter, setter}), CUDA_SUCCESS);
    ASSERT_TRUE(seen.load());
  }
}

TEST(Engine, KnowsItsThreads) {
  Engine& engine = make_engine();
  std::atomic<bool> within{false};
  EXPECT_EQ(engine.wait(engine.submit(engine.legacy(), [&] { within = within_work(); })),
            CUDA_SUCCESS);
  EXPECT_TRUE(within.load());
  EXPECT_FALSE(within_work());
}

// The first of them waits until the stream is full, and then a while for who submits too much.
TEST(Engine, AStreamTakesSoManyOperationsThenTheCallWaits) {
  Engine& engine = make_engine();
  const Queue queue = make_queue(QueueKind::non_blocking);
  uint64_t most = 0;
  Ticket last = engine.submit(queue, [&] {
    while (queue->submitted() < stream_operations)
      std::this_thread::yield();
    for (int i = 0; i < 10000; ++i)
      std::this_thread::yield();
    most = queue->submitted();
  });
  for (uint64_t i = 1; i < 4 * stream_operations; ++i) {
    last = engine.submit(queue, [&, i] { most = std::max(most, queue->submitted() - i); });
  }
  EXPECT_EQ(engine.wait(last), CUDA_SUCCESS);
  EXPECT_EQ(most, stream_operations);
}

TEST(Engine, WhoWaitsForRoomKeepsNobodyElseWaiting) {
  Engine& engine = make_engine();
  const Queue full = make_queue(QueueKind::non_blocking), other = make_queue(QueueKind::blocking);
  std::promise<void> release;
  hold(engine, full, release.get_future().share());
  std::thread waits([&] {
    for (size_t i = 0; i < 2 * stream_operations; ++i)
      engine.submit(full, [] {});
  });
  while (full->submitted() < stream_operations)
    std::this_thread::yield();
  EXPECT_EQ(engine.wait(engine.submit(other, [] {})), CUDA_SUCCESS);
  release.set_value();
  waits.join();
  EXPECT_EQ(engine.wait(last_of(full)), CUDA_SUCCESS);
}

// The work may be what the stream waits for.
TEST(Engine, WithinWorkNoCallWaitsForRoom) {
  Engine& engine = make_engine();
  const Queue queue = make_queue(QueueKind::non_blocking);
  const Ticket first = engine.submit(queue, [&] {
    for (size_t i = 0; i < 2 * stream_operations; ++i)
      engine.submit(queue, [] {});
  });
  EXPECT_EQ(engine.wait(first), CUDA_SUCCESS);
  EXPECT_EQ(engine.wait(last_of(queue)), CUDA_SUCCESS);
}

TEST(Engine, AThreadThatSaysSoNeverWaitsForRoom) {
  Engine& engine = make_engine();
  const Queue queue = make_queue(QueueKind::non_blocking);
  std::promise<void> release;
  hold(engine, queue, release.get_future().share());
  Engine::never_wait_for_room(true);
  for (size_t i = 0; i < 2 * stream_operations; ++i)
    engine.submit(queue, [] {});
  Engine::never_wait_for_room(false);
  EXPECT_EQ(queue->submitted(), 2 * stream_operations + 1);
  release.set_value();
  EXPECT_EQ(engine.wait(last_of(queue)), CUDA_SUCCESS);
}

TEST(Engine, HeldFunctionsBeginWhenSomebodyWaits) {
  Engine& engine = make_engine();
  const Queue queue = make_queue(QueueKind::non_blocking), other = make_queue(QueueKind::blocking);
  std::promise<void> none;
  none.set_value();
  engine.functions().begin();
  const Ticket function = hold(engine, queue, none.get_future().share());
  EXPECT_EQ(engine.wait(engine.submit(other, [] {})), CUDA_SUCCESS);
  for (int i = 0; i < 1000; ++i)
    std::this_thread::yield();
  EXPECT_FALSE(function.is_done());
  engine.functions().end();
  EXPECT_EQ(engine.wait(function), CUDA_SUCCESS);
}

// A handler of atexit() may wait for one by means of its own.
TEST(Engine, HeldFunctionsBeginByThemselvesAfterTheHold) {
  Engine& engine = make_engine();
  std::promise<void> none;
  none.set_value();
  engine.functions().begin();
  const Ticket function =
      hold(engine, make_queue(QueueKind::non_blocking), none.get_future().share());
  engine.functions().end();
  while (!function.is_done())
    std::this_thread::yield();
}

}  // namespace
}  // namespace sluice::hostcuda
