// A launch that is held back.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "dro/types.hpp"
#include "megakernel/window.hpp"
#include "runtime/device.hpp"
#include "schedule/block_cost.hpp"
#include "schedule/plan.hpp"

namespace sluice::runtime {

using schedule::TouchedBuffer;

// HeldLaunch is one launch of a window; its arguments lie in the window's parameter bytes.
struct HeldLaunch {
  dro::LaunchNumber number = 0;
  void* function = nullptr;
  Dim3 grid;
  Dim3 block;
  uint32_t dynamic_shared_bytes = 0;
  SluiceBlockCode code = {};
  schedule::BlockCost* cost = nullptr;                   // outlives the window; null: not measured
  std::shared_ptr<const megakernel::DeviceCode> device;  // null: the host's workers run it
  size_t first_parameter_byte = 0;
  size_t parameter_bytes = 0;
  uint32_t dependence_count = 0;  // of LaunchWindow::dependences, which follow the launches
  uint32_t touched_count = 0;     // of LaunchWindow::touched, likewise
  uint32_t part = 0;              // of LaunchWindow::parts
  std::shared_ptr<megakernel::BlockRunner> runner;  // null: its blocks are not watched
};

}  // namespace sluice::runtime
