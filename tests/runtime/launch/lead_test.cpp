// What waiting beside a device costs; by a clock that the tests turn.
#include "runtime/launch/lead.hpp"

#include <gtest/gtest.h>

#include "runtime/fake_device.hpp"
#include "runtime/policy/policy_phase.hpp"

namespace sluice::runtime {
namespace {

constexpr int64_t millisecond = 1'000'000;

using testing::now;
using testing::read_clock;

class LeadTest : public ::testing::Test {
 protected:
  LeadTest() { now = 0; }
  // busy() gives the device work that does not end before resume().
  void busy() {
    device.pause();
    device.enqueue({}, [] {});
  }
  void idle() {
    device.resume();
    device.wait_idle();
  }
  // spend() is a launch that has waited for so long.
  void spend(int64_t milliseconds) {
    now += milliseconds * millisecond;
    lead.spend({}, milliseconds * millisecond);
  }
  int64_t charged() const { return (patience - policy.patience()) / millisecond; }

  testing::FakeDevice device;
  Policy policy{Policy::Config{.to_start = 20 * millisecond, .part = 0}, read_clock};
  const int64_t patience = policy.patience();
  Lead lead{device, policy};
};

TEST_F(LeadTest, CostsNothingWhereTheDeviceStillWorks) {
  busy();
  spend(50);
  now += 10 * millisecond;
  lead.launches();
  EXPECT_EQ(charged(), 0);
  idle();
}

TEST_F(LeadTest, CostsWhatTheProgramDidWhereTheDeviceHasRunDry) {
  spend(10);
  now += 4 * millisecond;
  lead.launches();
  EXPECT_EQ(charged(), 4);
  now += 50 * millisecond;
  lead.launches();
  EXPECT_EQ(charged(), 10);  // no more than was spent
  now += 50 * millisecond;
  lead.launches();
  EXPECT_EQ(charged(), 10);
}

TEST_F(LeadTest, IsNotChargedForWhatSluiceItselfHasTaken) {
  spend(10);
  now += 3 * millisecond;
  lead.wait(3 * millisecond);  // which is charged as it is
  now += 2 * millisecond;
  lead.launches();
  EXPECT_EQ(charged(), 5);
}

TEST_F(LeadTest, EndsWhereTheProgramWaitsForTheDevice) {
  busy();
  spend(10);
  lead.waits();
  idle();
  now += 50 * millisecond;
  lead.launches();
  EXPECT_EQ(charged(), 0);
}

TEST_F(LeadTest, IsNotSpentForEver) {
  busy();
  EXPECT_TRUE(lead.may_be_spent());
  spend(Lead::most / millisecond);
  EXPECT_FALSE(lead.may_be_spent());
  lead.waits();
  EXPECT_TRUE(lead.may_be_spent());
  idle();
}

}  // namespace
}  // namespace sluice::runtime
