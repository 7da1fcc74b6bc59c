// Checks that a window keeps the promises by which executing it cannot hang.
#pragma once

#include "base/result.hpp"
#include "megakernel/layout.hpp"

namespace sluice::megakernel {

// validate() checks a window whole: tasks cut every launch into runs of blocks_per_task blocks
// (the last may be shorter), each exactly once; flags of different launches are apart; each
// dependence names an earlier slot and fits the two grids; every task stands after all tasks that
// it waits for; and lanes hold each task once, in the order of tickets. The error names the task or
// slot. Cost: one visit of every edge range, so it is for tests and tools, not for the launch path.
// Thread-safe.
Status validate(const Window& window);

// is_whole_launch() says whether `table` makes each slave block of its box wait for the whole
// master launch, which one counter of finished tasks can stand for.
inline bool is_whole_launch(const dro::EdgeTable& table) {
  const dro::BlockBox& box = table.master_box;
  const Dim3& grid = table.master_grid;
  return table.form == dro::EdgeForm::all && box.first_x == 0 && box.first_y == 0 &&
         box.first_z == 0 && box.last_x + 1 == grid.x && box.last_y + 1 == grid.y &&
         box.last_z + 1 == grid.z;
}

}  // namespace sluice::megakernel
