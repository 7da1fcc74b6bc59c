// Windows become tables that the executor's own validator accepts, cut into tasks worth a ticket.
#include "runtime/plan.hpp"

#include <gtest/gtest.h>

#include "megakernel/validate.hpp"
#include "megakernel/window_builder.hpp"

namespace sluice::runtime {
namespace {

TEST(BlocksPerTask, IsWhatATicketIsWorthHoweverLargeTheGrid) {
  EXPECT_EQ(blocks_per_task({128, 512, 1}, {32, 8, 1}, 2), 64U);  // 16384 threads: half a row
  EXPECT_EQ(blocks_per_task({1 << 20, 1, 1}, {256, 1, 1}, 8), 64U);
  EXPECT_EQ(blocks_per_task({24, 512, 1}, {32, 8, 1}, 2), 48U);  // two rows
}

TEST(BlocksPerTask, DoesNotCutBelowWhatATicketIsWorth) {
  EXPECT_EQ(blocks_per_task({64, 64, 1}, {16, 16, 1}, 16), 64U);  // 16384 threads: a row
  EXPECT_EQ(blocks_per_task({8, 8, 1}, {2, 2, 1}, 4), 16U);       // a quarter of the grid each
}

TEST(BlocksPerTask, IsAtLeastOneBlock) {
  EXPECT_EQ(blocks_per_task({1, 1, 1}, {1, 1, 1}, 64), 1U);
  EXPECT_EQ(blocks_per_task({3, 1, 1}, {1024, 1, 1}, 64), 1U);
}

void unused(const SluiceBlockLaunch*, uint32_t, uint32_t, void*) {}

TEST(Plan, KeepsArgumentsAndDependencesOfEachLaunch) {
  const SluiceBlockCode code{unused, 128};
  const LaunchCall call{.grid = {9, 7, 1}, .block = {64, 1, 1}, .dynamic_shared_bytes = 96};
  const dro::EdgeTable table = megakernel::testing::cross_table(call.grid);
  LaunchWindow window(nullptr, 40);
  for (uint8_t i = 0; i < 10; ++i) {
    const std::vector<std::byte> parameters(size_t{5} + i, std::byte{i});
    window.append(call, code, parameters);
    if (i > 0) window.depend_on(39U + i, table);
    if (i > 4) window.depend_on(41, table);
  }
  const auto planned = Planner({.workers = 3}).plan(window);
  EXPECT_TRUE(window.empty());
  const megakernel::Window& tables = planned->tables;
  const Status valid = megakernel::validate(tables);
  ASSERT_TRUE(valid) << valid.error().line();
  ASSERT_EQ(tables.slots.size(), 10U);
  for (uint8_t i = 0; i < 10; ++i) {
    const megakernel::LaunchSlot& slot = tables.slots[i];
    EXPECT_EQ(slot.launch->grid[0], 9U);
    EXPECT_EQ(slot.launch->grid[1], 7U);
    EXPECT_EQ(slot.launch->dynamic_shared_bytes, 96U);
    EXPECT_EQ(slot.code.scratch_bytes, 128U);
    EXPECT_EQ(slot.block_count, 63U);
    EXPECT_EQ(reinterpret_cast<uintptr_t>(slot.launch->parameters) % 16, 0U);
    for (size_t byte = 0; byte < size_t{5} + i; ++byte) {
      EXPECT_EQ(static_cast<const uint8_t*>(slot.launch->parameters)[byte], i);
    }
    ASSERT_EQ(slot.dependence_count, i == 0 ? 0U : (i > 4 ? 2U : 1U));
    if (i > 0) {
      EXPECT_EQ(tables.dependences[slot.first_dependence].master_slot, i - 1U);
    }
    if (i > 4) {
      EXPECT_EQ(tables.dependences[slot.first_dependence + 1].master_slot, 1U);
    }
  }
}

}  // namespace
}  // namespace sluice::runtime
