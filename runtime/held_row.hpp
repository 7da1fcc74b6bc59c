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
// on, in the window or not, but for their parameters.
struct HeldRow {
  struct Dependence {
    dro::RowDependence on;
    const dro::EdgeTable* edges = nullptr;
  };
  std::vector<HeldLaunch> launches;
  std::vector<Dependence> dependences;
  std::vector<TouchedBuffer> touched;
};

// GivenRow is a row with parameters, which may be others each time.
struct GivenRow {
  std::shared_ptr<const HeldRow> row;  // null: there is none
  std::shared_ptr<const std::vector<std::byte>> parameters;

  explicit operator bool() const { return row != nullptr; }
  const std::byte* parameters_of(const HeldLaunch& launch) const {
    return parameters->data() + launch.first_parameter_byte;
  }
};

// RowInWindow is a row as one window has it.
struct RowInWindow {
  GivenRow given;
  dro::LaunchNumber first = 0;
  uint32_t part = 0;  // of LaunchWindow::parts
};

}  // namespace sluice::runtime
