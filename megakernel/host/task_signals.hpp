// What says that a task or a launch is done, and who sleeps until it is.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>

#include "megakernel/host/flags.hpp"
#include "megakernel/host/parking.hpp"
#include "schedule/plan.hpp"

namespace sluice::megakernel {

// TaskSignals of one executor. Thread-safe but for open().
class TaskSignals {
 public:
  // open() begins a window, while no worker is in one. Throws std::bad_alloc.
  void open(const schedule::Plan& plan);

  bool is_done(uint32_t flag) const { return flags_.is_set(flag, epoch_); }
  bool is_launch_done(uint32_t launch) const { return counters_[launch].complete(); }

  // done() says that the task of `flag`, one of `launch`, is done, and whether somebody slept who
  // may have waited for it.
  bool done(uint32_t launch, uint32_t flag);

  // place() is where to wait for a flag, launch_place() for a launch.
  Parking& place(uint32_t flag) { return flag_changed_[flag % parking_places]; }
  Parking& launch_place(uint32_t launch) { return launch_changed_[launch % parking_places]; }

 private:
  // Flags and counters, several of them to a place, so that who sleeps is woken by few others.
  static constexpr size_t parking_places = 64;

  uint64_t epoch_ = 0;
  EpochFlags flags_;
  std::unique_ptr<TaskCounter[]> counters_;
  size_t counter_capacity_ = 0;
  std::array<Parking, parking_places> flag_changed_;
  std::array<Parking, parking_places> launch_changed_;
};

}  // namespace sluice::megakernel
