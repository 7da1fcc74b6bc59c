// A planned window has each launch's own arguments beside its tasks.
#include "runtime/stream/planned_window.hpp"

#include <gtest/gtest.h>

#include "megakernel/window_builder.hpp"
#include "schedule/validate.hpp"

namespace sluice::runtime {
namespace {

void unused(const SluiceBlockLaunch*, uint32_t, uint32_t, void*) {}

TEST(PlannedWindow, KeepsArgumentsAndDependencesOfEachLaunch) {
  const SluiceBlockCode code{unused, 128};
  const LaunchCall call{.grid = {9, 7, 1}, .block = {64, 1, 1}, .dynamic_shared_bytes = 96};
  const dro::EdgeTable table = megakernel::testing::cross_table(call.grid);
  PlannedWindow window{.held = LaunchWindow(StreamKey(), 40)};
  for (uint8_t i = 0; i < 10; ++i) {
    const std::vector<std::byte> parameters(size_t{5} + i, std::byte{i});
    window.held.append(call, code, parameters);
    if (i > 0) window.held.depend_on(39U + i, table);
    if (i > 4) window.held.depend_on(41, table);
  }
  schedule::Planner planner({.workers = 3});
  window.plan(planner);
  const schedule::Plan& plan = window.tables.plan;
  const Status valid = schedule::validate(plan);
  ASSERT_TRUE(valid) << valid.error().line();
  ASSERT_EQ(plan.launches.size(), 10U);
  for (uint8_t i = 0; i < 10; ++i) {
    const megakernel::LaunchCode& launch = window.tables.code[i];
    EXPECT_EQ(launch.launch->grid[0], 9U);
    EXPECT_EQ(launch.launch->grid[1], 7U);
    EXPECT_EQ(launch.launch->dynamic_shared_bytes, 96U);
    EXPECT_EQ(launch.code.scratch_bytes, 128U);
    EXPECT_EQ(reinterpret_cast<uintptr_t>(launch.launch->parameters) % 16, 0U);
    for (size_t byte = 0; byte < size_t{5} + i; ++byte)
      EXPECT_EQ(static_cast<const uint8_t*>(launch.launch->parameters)[byte], i);
    const auto dependences = plan.dependences_of(plan.launches[i]);
    ASSERT_EQ(dependences.size(), i == 0 ? 0U : (i > 4 ? 2U : 1U));
    if (i > 0) {
      EXPECT_EQ(dependences[0].master, i - 1U);
    }
    if (i > 4) {
      EXPECT_EQ(dependences[1].master, 1U);
    }
  }
}

TEST(PlannedWindow, IsCutByWhatBlocksHaveCostByThen) {
  const LaunchCall call{.grid = {32, 1, 1}, .block = {256, 1, 1}};
  schedule::BlockCost cost;
  schedule::Planner planner({.workers = 2, .on_host = true});
  for (const size_t tasks : {16U, 32U}) {
    PlannedWindow window{.held = LaunchWindow(StreamKey(), 1)};
    window.held.append(call, {unused, 0}, {});
    window.held.last().cost = &cost;
    if (tasks == 32U) cost.note(std::chrono::milliseconds(3), 1);
    window.plan(planner);
    EXPECT_EQ(window.tables.plan.tasks.size(), tasks);
  }
}

}  // namespace
}  // namespace sluice::runtime
