// Lanes hand out each ticket once, and tell a lane that its worker has left.
#include "megakernel/host/lanes.hpp"

#include <gtest/gtest.h>

namespace sluice::megakernel {
namespace {

// Eight tickets; the even ones are worker 0's.
Window two_lanes() {
  Window window;
  window.tasks.resize(8);
  window.lane_tasks = {0, 2, 4, 6, 1, 3, 5, 7};
  window.lane_ends = {4, 8};
  return window;
}

TEST(Lanes, GiveAWorkerItsOwnTicketsFirst) {
  const Window window = two_lanes();
  Lanes lanes;
  lanes.open(window, 2);
  EXPECT_EQ(lanes.take(1), 1U);
  for (const uint32_t ticket : {0U, 2U, 4U, 6U, 3U, 5U, 7U, Lanes::no_ticket})
    EXPECT_EQ(lanes.take(0), ticket);
}

TEST(Lanes, GiveWhoIsAloneTheSmallestTicketLeft) {
  const Window window = two_lanes();
  Lanes lanes;
  lanes.open(window, 2);
  EXPECT_EQ(lanes.take(1), 1U);
  EXPECT_EQ(lanes.take(1), 3U);
  for (const uint32_t ticket : {0U, 2U, 4U, 5U, 6U, 7U, Lanes::no_ticket})
    EXPECT_EQ(lanes.take_first(), ticket);
}

TEST(Lanes, AreLeftFromAStolenTicketUntilTheirWorkerTakesOne) {
  const Window window = two_lanes();
  Lanes lanes;
  lanes.open(window, 2);
  EXPECT_EQ(lanes.take(0), 0U);
  EXPECT_EQ(lanes.take(0), 2U);
  EXPECT_EQ(lanes.take(0), 4U);
  EXPECT_FALSE(lanes.is_left(4));  // worker 1 may be about to take its first
  EXPECT_EQ(lanes.take_before(4), 1U);
  EXPECT_TRUE(lanes.is_left(4));
  EXPECT_FALSE(lanes.is_left(3));  // nothing that ticket 3 could wait for
  EXPECT_EQ(lanes.take(1), 3U);
  EXPECT_FALSE(lanes.is_left(6));
  EXPECT_EQ(lanes.take_before(6), 5U);
  EXPECT_EQ(lanes.take_before(6), Lanes::no_ticket);
}

TEST(Lanes, AreLeftWhereTheirWorkerIsFarBehind) {
  constexpr uint32_t tickets = 40;
  Window window;
  window.tasks.resize(tickets);
  for (const uint32_t first : {0U, 1U}) {
    for (uint32_t ticket = first; ticket < tickets; ticket += 2)
      window.lane_tasks.push_back(ticket);
    window.lane_ends.push_back(static_cast<uint32_t>(window.lane_tasks.size()));
  }
  Lanes lanes;
  lanes.open(window, 2);
  for (uint32_t place = 0; place < 20; ++place)
    lanes.take(0);
  EXPECT_FALSE(lanes.is_left(16));  // eight of worker 1 are before it
  EXPECT_TRUE(lanes.is_left(18));
  EXPECT_EQ(lanes.take(1), 1U);
  EXPECT_FALSE(lanes.is_left(18));
  for (uint32_t place = 1; place < 12; ++place)
    lanes.take(1);
  EXPECT_FALSE(lanes.is_left(39));
}

}  // namespace
}  // namespace sluice::megakernel
