// From the launches of a window to the tables that workers read.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "megakernel/layout.hpp"
#include "runtime/window.hpp"

namespace sluice::runtime {

// PlannedWindow owns a closed window and its tables.
struct PlannedWindow {
  LaunchWindow held;
  std::vector<SluiceBlockLaunch> launches;
  megakernel::Window tables;
};

// plan() cuts the launches into tasks for `workers` workers and orders them. It leaves `window`
// empty, or as it was where it throws std::bad_alloc.
std::shared_ptr<const PlannedWindow> plan(LaunchWindow& window, uint32_t workers);

// blocks_per_task() is how many neighbouring blocks make a task that is worth its ticket: about a
// dozen tasks for each worker and launch, but no less than some thousand threads each while every
// worker still gets one; whole rows of blocks, or whole parts of a row.
uint32_t blocks_per_task(const Dim3& grid, const Dim3& block, uint32_t workers);

}  // namespace sluice::runtime
