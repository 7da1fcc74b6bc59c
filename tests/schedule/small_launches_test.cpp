// Launches of one task do not come between a launch and the one that reads what it wrote.
#include "schedule/small_launches.hpp"

#include <algorithm>
#include <deque>

#include <gtest/gtest.h>

#include "megakernel/window_builder.hpp"
#include "schedule/planner.hpp"
#include "schedule/validate.hpp"

namespace sluice::schedule {
namespace {

using megakernel::testing::all_table;
using megakernel::testing::cross_table;
using megakernel::testing::offset_table;

const Dim3 grid{8, 32, 1};
const Dim3 one{1, 1, 1};

// Loop is a loop that in each step fills a buffer, clears a counter, and adds up the buffer.
class Loop {
 public:
  explicit Loop(uint32_t steps) {
    for (uint32_t step = 0; step < steps; ++step) {
      const uint32_t fill = 3 * step, clear = fill + 1, sum = fill + 2;
      add(grid, step == 0 ? Dependences{} : Dependences{{fill - 3, &cross_}},
          {{1, 1'000'000}, {2, 1'000'000}});
      add(one, step == 0 ? Dependences{} : Dependences{{sum - 3, &to_one_}}, {{3, 4}});
      add(grid, {{fill, &same_}, {clear, &to_all_}}, {{2, 1'000'000}, {3, 4}});
    }
  }

  std::vector<Launch> launches;

 private:
  using Dependences = std::vector<Dependence>;
  void add(const Dim3& blocks, Dependences on, std::vector<TouchedBuffer> touched) {
    dependences_.push_back(std::move(on));
    touched_.push_back(std::move(touched));
    launches.push_back({blocks, {256, 1, 1}, 0, dependences_.back(), touched_.back()});
  }

  dro::EdgeTable cross_ = cross_table(grid);
  dro::EdgeTable same_ = offset_table(grid, {{0, 0, 0}});
  dro::EdgeTable to_one_ = all_table(grid, one);
  dro::EdgeTable to_all_ = all_table(one, grid);
  std::deque<Dependences> dependences_;
  std::deque<std::vector<TouchedBuffer>> touched_;
};

// It is swept right behind the launch that fills the buffer, or right before the next one, which
// reads it too.
TEST(SmallLaunches, LetASumStandBesideWhatItAddsUp) {
  const Loop loop(4);
  const Plan plan = Planner({.cache_bytes = 8'000'000, .workers = 1}).plan(loop.launches);
  const Status valid = validate(plan);
  ASSERT_TRUE(valid) << valid.error().line();
  // Tickets of the launches' last tasks.
  std::vector<uint32_t> last(loop.launches.size());
  for (uint32_t ticket = 0; ticket < plan.tasks.size(); ++ticket)
    last[plan.tasks[ticket].launch] = ticket;
  for (uint32_t step = 0; step < 4; ++step) {
    const uint32_t fill = last[3 * step], sum = last[3 * step + 2];
    const uint32_t next = step == 3 ? UINT32_MAX : last[3 * step + 3];
    EXPECT_LE(std::min(sum - fill, next - std::min(next, sum)), 4U) << step;
  }
}

TEST(SmallLaunches, StandBehindTheirLastMaster) {
  const Loop loop(3);
  const Plan plan = Planner({.workers = 1}).plan(loop.launches);
  EXPECT_EQ(small_first(plan), (std::vector<uint32_t>{1, 0, 2, 4, 3, 5, 7, 6, 8}));
}

TEST(SmallLaunches, AreBackInTheirPlacesInThePlan) {
  const Loop loop(3);
  Plan plan = Planner({.workers = 1}).plan(loop.launches);
  const Plan before = plan;
  const std::vector<uint32_t> order = small_first(plan);
  put_in_order(plan, order);
  EXPECT_EQ(plan.launches[0].block_count, 1U);
  plan.tasks = {{0, 0, 1}};
  put_back(plan, order);
  EXPECT_EQ(plan.tasks.front().launch, 1U);
  for (size_t i = 0; i < plan.launches.size(); ++i)
    EXPECT_EQ(plan.launches[i].first_flag, before.launches[i].first_flag) << i;
  for (size_t i = 0; i < plan.dependences.size(); ++i)
    EXPECT_EQ(plan.dependences[i].master, before.dependences[i].master) << i;
}

}  // namespace
}  // namespace sluice::schedule
