// What the governor is told: how long launches take as tasks, and as plain launches.
#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "base/brief_lock.hpp"
#include "base/log.hpp"
#include "runtime/state.hpp"

namespace sluice::runtime {

// Blocks of one kernel against those of another: as they were measured when that was first known.
uint64_t Runtime::State::work_of(Kernel& kernel, const BlockCode& code,
                                 const LaunchCall& call) const {
  Governor::Mark& mark = kernel.mark;
  if (mark.block_weight == 0 && code.cost != nullptr) mark.block_weight = code.cost->nanoseconds();
  return call.grid.count() * std::max<uint64_t>(1, mark.block_weight);
}

int Runtime::State::give_plainly(const LaunchCall& call, Kernel& kernel, const BlockCode& code) {
  close_windows();
  if (plain_.sample.round != governor_->round() || plain_.sample.launches == 0) {
    called_ = time_of_call();
    plain_ = {called_, {.round = governor_->round()}};
    following_ = 0;
  }
  ++plain_.sample.launches;
  plain_.sample.work += work_of(kernel, code, call);
  following_ += clock_() - time_of_call();
  handed_over_ = true;
  const int result = device_.launch(call);
  if (result != 0 || plain_.sample.launches < governor_->sample_launches()) return result;
  // Where the device takes no such work the samples never come, and nothing is decided.
  LaunchWindow::Called measured = std::exchange(plain_, {});
  // Stepping aside saves what following costs, where the device waits for the program's thread.
  measured.first += following_;
  HeldStream& stream = *stream_;
  ++stream.outstanding;  // as a window of no launches
  ++outstanding_windows_;
  if (device_.enqueue(call.stream, [this, measured, &stream] { plain_done(measured, stream); }) !=
      0) {
    --stream.outstanding;
    --outstanding_windows_;
  }
  return 0;
}

void Runtime::State::plain_done(const LaunchWindow::Called& called, HeldStream& stream) {
  const Lock lock = lock_briefly_held(mutex_);
  --stream.outstanding;
  --outstanding_windows_;
  try {
    judge(Governor::Way::plain, called);
    if (stream.outstanding == 0) close(stream);
  } catch (...) {
    turn_off_locked();
  }
  window_ended_.notify_all();
}

// Launches have the device from when the ones before have ended, or else from their call.
void Runtime::State::judge(Governor::Way way, const LaunchWindow::Called& called) {
  const int64_t now = clock_();
  Governor::Sample sample = called.sample;
  sample.nanoseconds = std::max<int64_t>(1, now - std::max(called.first, last_ended_));
  last_ended_ = now;
  const std::optional<Governor::Verdict> verdict = governor_->measured(way, sample);
  if (!verdict) return;
  aside_reason_ = "in this phase of the program plain launches were measured to be faster";
  const std::string text =
      verdict->aside
          ? fmt::format(
                "after launch {}: plain launches were {:.2f} x as fast as tasks, so Sluice "
                "steps aside in this phase of the program",
                last_launch_, verdict->plain_speed)
          : fmt::format(
                "after launch {}: tasks are no slower than plain launches any more ({:.2f} x "
                "as fast), so launches run as tasks again",
                last_launch_, 1 / verdict->plain_speed);
  if (journal_ != nullptr) {
    journal_->on_warning(text);
  } else {
    log::info("{}", text);
  }
}

}  // namespace sluice::runtime
