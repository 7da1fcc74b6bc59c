// Does a window of a backend pay?
#pragma once

#include <cstdint>

#include "megakernel/window_backend.hpp"
#include "schedule/planner.hpp"

namespace sluice::runtime {

// WindowAccount sets what a window spares against what it costs. It spares the gap behind each
// launch. It costs the device a time of its own, beside its launches, and the program's thread what
// planning and uploading it takes, which is for nothing only while the device has work meanwhile.
class WindowAccount {
 public:
  // add() a launch. Where its blocks were never measured the device is taken to be busy with it for
  // as long as its tasks take to be planned: it is measured in windows alone.
  void add(const schedule::Planner::Share& launch);

  // pays() is false where the window can't spare what it costs; never true of a launch alone.
  bool pays(const megakernel::WindowBackend::Costs& costs) const;

 private:
  uint64_t launches_ = 0;
  uint64_t planning_ = 0;  // nanoseconds
  uint64_t working_ = 0;   // nanoseconds
};

}  // namespace sluice::runtime
