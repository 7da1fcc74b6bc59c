// The launches that are held back of one stream, or of several.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "dro/types.hpp"
#include "runtime/device.hpp"
#include "runtime/held_launch.hpp"
#include "runtime/held_row.hpp"
#include "runtime/window_parts.hpp"
#include "schedule/plan.hpp"

namespace sluice::dro {
class DependenceTracker;
class LaunchRow;
}  // namespace sluice::dro

namespace sluice::runtime {

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

  // append() takes a launch and copies its arguments; its number is one more than the last one's,
  // until last() says more of it. depend_on() makes the launch appended last wait for `master`, by
  // its number.
  void append(const LaunchCall& call, const SluiceBlockCode& code,
              std::span<const std::byte> parameters, std::span<const TouchedBuffer> touched = {});
  HeldLaunch& last() { return launches_.back(); }
  bool holds(dro::LaunchNumber number) const;
  void depend_on(dro::LaunchNumber master, const dro::EdgeTable& edges);

  // append() also takes a row of launches as a whole, numbered from `first`. It keeps the row until
  // unfold() has made it launches like others, or another launch follows. Where unfold() throws
  // std::bad_alloc the window is as it was.
  void append(GivenRow row, const StreamKey& stream, dro::LaunchNumber first);
  void unfold();
  // for_each() gives each launch and its parameter block to `visit`, unfolded or not.
  template <class Visit>
  void for_each(Visit&& visit) const {
    for (const HeldLaunch& launch : launches_)
      visit(launch, parameters(launch));
    for (const RowInWindow& held : rows_)
      for (const HeldLaunch& launch : held.given.row->launches)
        visit(launch, held.given.parameters_of(launch));
  }

  // parts() are what its streams have in it; append() adds to that of a launch's stream.
  WindowParts& parts() { return parts_; }
  const WindowParts& parts() const { return parts_; }

  bool empty() const { return size() == 0; }
  size_t size() const { return launches_.size() + folded_; }
  dro::LaunchNumber first() const { return first_; }
  StreamKey stream() const { return parts_.first(); }
  // Of a window that is unfolded.
  std::span<const HeldLaunch> launches() const { return launches_; }
  std::span<const schedule::Dependence> dependences() const { return dependences_; }
  std::span<const TouchedBuffer> touched() const { return touched_; }
  // parameters() is the parameter block of a launch, aligned to 16; valid until the next append().
  const std::byte* parameters(const HeldLaunch& launch) const {
    return parameters_.data() + launch.first_parameter_byte;
  }

 private:
  // find() is a launch's place, of those that are unfolded; that of the end where it is not here.
  size_t find(dro::LaunchNumber number) const;

  dro::LaunchNumber first_ = 0;
  std::vector<HeldLaunch> launches_;
  std::vector<schedule::Dependence> dependences_;
  std::vector<TouchedBuffer> touched_;
  std::vector<std::byte> parameters_;
  std::vector<RowInWindow> rows_;  // behind the launches
  size_t folded_ = 0;              // launches in these
  WindowParts parts_;
};

// row_in() is the row that a window holds last, from `first` on, whose launches depend on each
// other as `row` says, by edge tables of the tracker. None where they are not all there, one behind
// the other.
GivenRow row_in(const LaunchWindow& window, const dro::LaunchRow& row, dro::LaunchNumber first,
                const dro::DependenceTracker& tracker);

// launch_plainly() gives each launch and event of the window to the driver, as if none had been
// held back; those of several streams one after the other. Returns the first error of a launch.
int launch_plainly(LaunchWindow& window, Device& device);

// run_one_by_one() runs the blocks of all launches on the calling thread, in program order, and
// reaches the events. Throws what a block throws, and std::bad_alloc where there is no memory for a
// block's shared memory.
void run_one_by_one(LaunchWindow& window);

}  // namespace sluice::runtime
