#include "hostcuda/driver/queue.hpp"

#include <atomic>
#include <future>
#include <stdexcept>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

namespace sluice::hostcuda {
namespace {

// A queue's dispatcher never ends, so the queues of these tests don't either.
Queue& make_queue() {
  return *new Queue(2);
}

TEST(Queue, RunsWorkInTheOrderOfItsTickets) {
  Queue& queue = make_queue();
  std::vector<int> order;
  uint64_t last = 0;
  for (int i = 0; i < 1000; ++i) {
    const uint64_t ticket = queue.submit([&order, i] { order.push_back(i); });
    EXPECT_EQ(ticket, last + 1);
    last = ticket;
  }
  EXPECT_EQ(queue.wait(last), CUDA_SUCCESS);
  ASSERT_EQ(order.size(), 1000u);
  for (int i = 0; i < 1000; ++i)
    EXPECT_EQ(order[static_cast<size_t>(i)], i);
}

TEST(Queue, SubmitsWithoutWaitingForTheWork) {
  Queue& queue = make_queue();
  std::promise<void> release;
  const uint64_t blocked = queue.submit([&] { release.get_future().wait(); });
  std::atomic<bool> ran{false};
  const uint64_t after = queue.submit([&] { ran = true; });
  EXPECT_FALSE(queue.is_done(blocked));
  EXPECT_FALSE(ran.load());
  release.set_value();
  EXPECT_EQ(queue.wait(after), CUDA_SUCCESS);
  EXPECT_TRUE(ran.load());
  EXPECT_TRUE(queue.is_done(blocked));
}

TEST(Queue, TakesWorkFromWithinWork) {
  Queue& queue = make_queue();
  std::vector<int> order;
  std::atomic<uint64_t> inner{0};
  const uint64_t outer = queue.submit([&] {
    inner = queue.submit([&order] { order.push_back(2); });
    order.push_back(1);
  });
  EXPECT_EQ(queue.wait(outer), CUDA_SUCCESS);
  EXPECT_EQ(queue.wait(inner.load()), CUDA_SUCCESS);
  EXPECT_EQ(order, (std::vector<int>{1, 2}));
}

TEST(Queue, RefusesToWaitWithinWorkForWorkThatIsNotDone) {
  Queue& queue = make_queue();
  std::atomic<CUresult> itself{CUDA_SUCCESS};
  std::atomic<CUresult> before{CUDA_ERROR_UNKNOWN};
  const uint64_t first = queue.submit([] {});
  const uint64_t second = queue.submit([&] {
    before = queue.wait(first);
    itself = queue.wait(first + 1);
  });
  EXPECT_EQ(queue.wait(second), CUDA_SUCCESS);
  EXPECT_EQ(before.load(), CUDA_SUCCESS);
  EXPECT_EQ(itself.load(), CUDA_ERROR_NOT_PERMITTED);
}

TEST(Queue, KeepsTheFirstErrorAndGoesOn) {
  Queue& queue = make_queue();
  queue.submit([] { throw std::runtime_error("first"); });
  std::atomic<bool> ran{false};
  const uint64_t last = queue.submit([&] { ran = true; });
  EXPECT_EQ(queue.wait(last), CUDA_ERROR_LAUNCH_FAILED);
  EXPECT_TRUE(ran.load());
  EXPECT_EQ(queue.error(), CUDA_ERROR_LAUNCH_FAILED);
}

TEST(Queue, ServesManyThreadsThatWait) {
  Queue& queue = make_queue();
  std::atomic<int> sum{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&] {
      for (int i = 0; i < 200; ++i) {
        const int before = sum.load();
        EXPECT_EQ(queue.wait(queue.submit([&] { ++sum; })), CUDA_SUCCESS);
        EXPECT_GT(sum.load(), before);
      }
    });
  }
  for (std::thread& thread : threads)
    thread.join();
  EXPECT_EQ(sum.load(), 800);
}

TEST(Queue, KnowsItsDispatcher) {
  Queue& queue = make_queue();
  std::atomic<bool> within{false};
  EXPECT_EQ(queue.wait(queue.submit([&] { within = Queue::on_dispatcher(); })), CUDA_SUCCESS);
  EXPECT_TRUE(within.load());
  EXPECT_FALSE(Queue::on_dispatcher());
}

}  // namespace
}  // namespace sluice::hostcuda
