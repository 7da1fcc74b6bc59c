// A closed window on its way to an executor.
#pragma once

#include <vector>

#include "megakernel/window.hpp"
#include "megakernel/window_backend.hpp"
#include "runtime/window.hpp"
#include "schedule/planner.hpp"

namespace sluice::runtime {

// PlannedWindow owns a closed window and its tables, which are empty until it is planned.
struct PlannedWindow {
  LaunchWindow held;
  std::vector<SluiceBlockLaunch> launches;
  megakernel::Window tables;

  // plan() fills the tables, by what blocks cost as far as that is known by now, for `backend`
  // where that is not null. Throws std::bad_alloc; such a window cannot be planned again.
  void plan(schedule::Planner& planner, megakernel::WindowBackend* backend = nullptr);
};

}  // namespace sluice::runtime
