// Launches that leave their buffers.
#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <utility>

#include "runtime/faults/fault_report.hpp"
#include "runtime/faults/launch_view.hpp"

namespace sluice::runtime {

// BufferBounds tells, before the launch runs, of bytes beyond a buffer that it certainly reads or
// writes; each slot of a kernel once. Not thread-safe.
class BufferBounds {
 public:
  explicit BufferBounds(FaultReport& report) : report_(report) {}

  void launched(const LaunchView& view);

 private:
  void judge(const LaunchView& view, size_t slot, Use use);

  FaultReport& report_;
  std::set<std::pair<std::string, std::pair<size_t, Use>>> told_;
};

}  // namespace sluice::runtime
