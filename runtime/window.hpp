// The launches that are held back of one stream, or of several.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "dro/edges/edge_table.hpp"
#include "dro/types.hpp"
#include "megakernel/window.hpp"
#include "runtime/device.hpp"
#include "runtime/window_parts.hpp"
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

// LaunchWindow collects launches of one stream, or of several, in program order. Not thread-safe.
class LaunchWindow {
 public:
  LaunchWindow() = default;
  // Room is how much a window holds. The next one of its stream is likely to hold as much as one of
  // the last two, since the first of a row goes to an idle stream alone; more room would be kept by
  // many small windows at once.
  struct Room {
    size_t launches = 0;
    size_t dependences = 0;
    size_t touched = 0;
    size_t parameter_bytes = 0;
  };

  // `line` is the device's (Device::make_line), where its streams may be several; else null.
  LaunchWindow(const StreamKey& stream, dro::LaunchNumber first) : first_(first) {
    parts_.of(stream);
  }
  LaunchWindow(const StreamKey& stream, dro::LaunchNumber first, const Room& room,
               void* line = nullptr);
  Room room() const;
  static Room larger(const Room& a, const Room& b);

  // append() takes a launch and copies its arguments; its number is one more than the last one's.
  // skip_to() makes it a larger one. depend_on() makes the launch appended last wait for `master`,
  // by its number.
  void append(const LaunchCall& call, const SluiceBlockCode& code,
              std::span<const std::byte> parameters, std::span<const TouchedBuffer> touched = {});
  void skip_to(dro::LaunchNumber number) { launches_.back().number = number; }
  bool holds(dro::LaunchNumber number) const { return find(number) != launches_.size(); }
  void depend_on(dro::LaunchNumber master, const dro::EdgeTable& edges);

  // run_on_device() sets the code of a backend for the launch appended last.
  void run_on_device(std::shared_ptr<const megakernel::DeviceCode> code) {
    launches_.back().device = std::move(code);
  }

  // measure() sets what is told of the cost of the blocks of the launch appended last.
  void measure(schedule::BlockCost* cost) { launches_.back().cost = cost; }

  // watch() sets what runs the blocks of the launch appended last.
  void watch(std::shared_ptr<megakernel::BlockRunner> runner) {
    launches_.back().runner = std::move(runner);
  }

  // parts() are what its streams have in it; append() adds to that of a launch's stream.
  WindowParts& parts() { return parts_; }
  const WindowParts& parts() const { return parts_; }

  bool empty() const { return launches_.empty(); }
  size_t size() const { return launches_.size(); }
  dro::LaunchNumber first() const { return first_; }
  StreamKey stream() const { return parts_.first(); }
  std::span<const HeldLaunch> launches() const { return launches_; }
  std::span<const schedule::Dependence> dependences() const { return dependences_; }
  std::span<const TouchedBuffer> touched() const { return touched_; }
  // parameters() is the parameter block of a launch, aligned to 16; valid until the next append().
  const std::byte* parameters(const HeldLaunch& launch) const {
    return parameters_.data() + launch.first_parameter_byte;
  }

 private:
  size_t find(dro::LaunchNumber number) const;  // its place; that of the end where it is not here

  dro::LaunchNumber first_ = 0;
  std::vector<HeldLaunch> launches_;
  std::vector<schedule::Dependence> dependences_;
  std::vector<TouchedBuffer> touched_;
  std::vector<std::byte> parameters_;
  WindowParts parts_;
};

// launch_plainly() gives each launch and event of the window to the driver, as if none had been
// held back; those of several streams one after the other. Returns the first error of a launch.
int launch_plainly(LaunchWindow& window, Device& device);

// run_one_by_one() runs the blocks of all launches on the calling thread, in program order, and
// reaches the events. Throws what a block throws, and std::bad_alloc where there is no memory for a
// block's shared memory.
void run_one_by_one(LaunchWindow& window);

}  // namespace sluice::runtime
