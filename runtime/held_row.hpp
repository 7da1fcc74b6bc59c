// Launches that come again together, as a window holds them.
#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include "dro/rule/launch_row.hpp"
#include "dro/types.hpp"
#include "runtime/held_launch.hpp"

namespace sluice::dro {
struct EdgeTable;
}

namespace sluice::runtime {

// HeldRow is what a window would hold of such launches, numbered from 0, with all that they depend
// on, in the window or not.
struct HeldRow {
  struct Dependence {
    dro::RowDependence on;
    const dro::EdgeTable* edges = nullptr;
  };
  std::vector<HeldLaunch> launches;
  std::vector<Dependence> dependences;
  std::vector<TouchedBuffer> touched;
  std::vector<std::byte> parameters;
};

// RowInWindow is a row as one window has it.
struct RowInWindow {
  std::shared_ptr<const HeldRow> row;
  dro::LaunchNumber first = 0;
  uint32_t part = 0;  // of LaunchWindow::parts
};

}  // namespace sluice::runtime
