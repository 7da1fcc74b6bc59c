// Worker queues hand out each ticket once, and tell of one that its worker has left.
#include "megakernel/host/worker_queues.hpp"

#include <gtest/gtest.h>

namespace sluice::megakernel {
namespace {

// Eight tickets; the even ones are worker 0's.
schedule::Plan two_queues() {
  schedule::Plan plan;
  plan.tasks.resize(8);
  plan.queue_tickets = {0, 2, 4, 6, 1, 3, 5, 7};
  plan.queue_ends = {4, 8};
  return plan;
}

TEST(WorkerQueues, GiveAWorkerItsOwnTicketsFirst) {
  const schedule::Plan plan = two_queues();
  WorkerQueues queues;
  queues.open(plan, 2);
  EXPECT_EQ(queues.take(1), 1U);
  for (const uint32_t ticket : {0U, 2U, 4U, 6U, 3U, 5U, 7U, WorkerQueues::no_ticket})
    EXPECT_EQ(queues.take(0), ticket);
}

TEST(WorkerQueues, GiveWhoIsAloneTheSmallestTicketLeft) {
  const schedule::Plan plan = two_queues();
  WorkerQueues queues;
  queues.open(plan, 2);
  EXPECT_EQ(queues.take(1), 1U);
  EXPECT_EQ(queues.take(1), 3U);
  for (const uint32_t ticket : {0U, 2U, 4U, 5U, 6U, 7U, WorkerQueues::no_ticket})
    EXPECT_EQ(queues.take_first(), ticket);
}

TEST(WorkerQueues, AreLeftFromAStolenTicketUntilTheirWorkerTakesOne) {
  const schedule::Plan plan = two_queues();
  WorkerQueues queues;
  queues.open(plan, 2);
  EXPECT_EQ(queues.take(0), 0U);
  EXPECT_EQ(queues.take(0), 2U);
  EXPECT_EQ(queues.take(0), 4U);
  EXPECT_FALSE(queues.is_left(4));  // worker 1 may be about to take its first
  EXPECT_EQ(queues.take_before(4), 1U);
  EXPECT_TRUE(queues.is_left(4));
  EXPECT_FALSE(queues.is_left(3));  // nothing that ticket 3 could wait for
  EXPECT_EQ(queues.take(1), 3U);
  EXPECT_FALSE(queues.is_left(6));
  EXPECT_EQ(queues.take_before(6), 5U);
  EXPECT_EQ(queues.take_before(6), WorkerQueues::no_ticket);
}

TEST(WorkerQueues, AreLeftWhereTheirWorkerIsFarBehind) {
  constexpr uint32_t tickets = 40;
  schedule::Plan plan;
  plan.tasks.resize(tickets);
  for (const uint32_t first : {0U, 1U}) {
    for (uint32_t ticket = first; ticket < tickets; ticket += 2)
      plan.queue_tickets.push_back(ticket);
    plan.queue_ends.push_back(static_cast<uint32_t>(plan.queue_tickets.size()));
  }
  WorkerQueues queues;
  queues.open(plan, 2);
  for (uint32_t place = 0; place < 20; ++place)
    queues.take(0);
  EXPECT_FALSE(queues.is_left(16));  // eight of worker 1 are before it
  EXPECT_TRUE(queues.is_left(18));
  EXPECT_EQ(queues.take(1), 1U);
  EXPECT_FALSE(queues.is_left(18));
  for (uint32_t place = 1; place < 12; ++place)
    queues.take(1);
  EXPECT_FALSE(queues.is_left(39));
}

TEST(WorkerQueues, AreOneInTheOrderOfTicketsWhereThereIsOneWorkerOrNoQueue) {
  schedule::Plan plan = two_queues();
  WorkerQueues queues;
  for (const uint32_t workers : {1U, 2U}) {
    queues.open(plan, workers);
    for (uint32_t ticket = 0; ticket < 8; ++ticket)
      EXPECT_EQ(queues.take(0), ticket);
    EXPECT_EQ(queues.take(0), WorkerQueues::no_ticket);
    plan.queue_ends.clear();
  }
}

}  // namespace
}  // namespace sluice::megakernel
