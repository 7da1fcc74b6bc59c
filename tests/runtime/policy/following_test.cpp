// Following launches is given up where it has cost more than they allow.
#include <gtest/gtest.h>

#include "runtime/policy/policy.hpp"

namespace sluice::runtime {
namespace {

constexpr Policy::Config config{
    .following = {.to_start = 100, .for_a_launch = 2, .threads_for_a_step = 10}};

int64_t now = 1;
int64_t read_clock() {
  return now;
}

// A model that remembers what it is told.
class Model final : public KernelModel {
 public:
  const analysis::KernelSignature& signature() const override { return signature_; }
  analysis::Footprint footprint(const analysis::LaunchShape& /*shape*/) override { return {}; }
  bool has_not_paid() const override { return not_paid; }
  void note_not_paid() override { not_paid = true; }

  bool not_paid = false;

 private:
  analysis::KernelSignature signature_;
};

class Following : public ::testing::Test {
 protected:
  bool may_follow() { return policy_.may_follow(kernel_, model_, 0); }

  const Policy policy_{config, read_clock};
  Policy::Mark kernel_;
  Model model_;
};

TEST_F(Following, AllowsWhatIsThereToStart) {
  policy_.spend(kernel_, 100);
  EXPECT_TRUE(may_follow());
  policy_.spend(kernel_, 1);
  EXPECT_FALSE(may_follow());
  EXPECT_TRUE(model_.not_paid);
}

TEST_F(Following, EarnsByLaunchesAndTheirThreads) {
  policy_.earn(kernel_, 1000);
  policy_.spend(kernel_, 202);
  EXPECT_TRUE(may_follow());
  policy_.spend(kernel_, 1);
  EXPECT_FALSE(may_follow());
  EXPECT_TRUE(may_follow());  // the launch that was not followed has earned
}

TEST_F(Following, OfAKernelThatHasNotPaidBeforeWaitsUntilItHasEarnedTheStart) {
  model_.not_paid = true;
  for (int i = 0; i < 50; ++i)
    EXPECT_FALSE(may_follow()) << i;
  EXPECT_TRUE(may_follow());
}

TEST_F(Following, CountsTheTimeOfTheAnalysisOnceAKernelHasUnusuallyManyShapes) {
  policy_.asked(kernel_, policy_.began_asking(3));
  EXPECT_FALSE(policy_.began_asking(3));
  const auto began = policy_.began_asking(4);
  now += 50 * 101;  // steps of 50 ns
  policy_.asked(kernel_, began);
  EXPECT_FALSE(may_follow());
}

}  // namespace
}  // namespace sluice::runtime
