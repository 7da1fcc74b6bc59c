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

}  // namespace
}  // namespace sluice::megakernel
