// The way of a window: planned, given to the device, run there, and followed by the next one.
#include <algorithm>
#include <exception>
#include <new>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "base/assert.hpp"
#include "base/brief_lock.hpp"
#include "base/log.hpp"
#include "runtime/state.hpp"
#include "runtime/task_records.hpp"

namespace sluice::runtime {
namespace {

constexpr int out_of_memory = 2;    // CUDA_ERROR_OUT_OF_MEMORY
constexpr int launch_failed = 719;  // CUDA_ERROR_LAUNCH_FAILED

// what_was_thrown() describes the exception being handled.
std::string what_was_thrown() {
  try {
    throw;
  } catch (const AssertionFailure& failure) {
    return fmt::format("assertion '{}' failed at {}:{}", failure.condition, failure.file,
                       failure.line);
  } catch (const std::exception& exception) {
    return exception.what();
  } catch (...) {
    return "an unknown exception";
  }
}

}  // namespace

int Runtime::State::submit(HeldStream& stream) {
  if (stream.window.empty()) return 0;
  const auto window = std::make_shared<PlannedWindow>();
  window->held = std::exchange(stream.window, {});
  held_.closed(stream);
  const size_t launches = window->held.size();
  const LaunchWindow::Room room = window->held.room();
  stream.room = LaunchWindow::larger(room, std::exchange(stream.last_room, room));
  ++stream.outstanding;
  ++outstanding_windows_;
  outstanding_launches_ += launches;
  int result = out_of_memory;
  try {
    result = hand_over(window, stream);
  } catch (const std::bad_alloc&) {
    // The launches are still here, and may go on without a window.
  } catch (...) {
    turn_off_locked();
  }
  if (result == 0) return 0;
  --stream.outstanding;
  --outstanding_windows_;
  ended(launches);
  // Where the device has failed it refuses launches as well, and the program is told that.
  if (const int plainly = launch_plainly(window->held, device_)) return plainly;
  log::warning("the device takes no windows on this stream (error {}): launches run one by one",
               result);
  return 0;
}

int Runtime::State::hand_over(const std::shared_ptr<PlannedWindow>& window, HeldStream& stream) {
  if (backend_ == nullptr) {
    return device_.enqueue(window->held.stream(),
                           [this, window, &stream] { run_window(*window, stream); });
  }
  planner_.plan(*window);
  return backend_->submit(
      window->held.stream(), {window, &window->tables},
      [this, window, &stream](int error) { window_done(window->held, stream, error != 0); });
}

void Runtime::State::close(HeldStream& stream) {
  const int result = submit(stream);
  if (result != 0) deferred_error_ = result;
}

void Runtime::State::close_windows() {
  while (!held_.open().empty())
    close(*held_.open().front());
}

void Runtime::State::close_related(const HeldStream& stream, bool is_default) {
  const auto is_related = [&](const HeldStream* other) {
    return other != &stream &&
           (is_default || is_default_stream(other->window.stream()) ||
            std::any_of(dependences_.begin(), dependences_.end(),
                        [&](const auto& found) { return other->window.holds(found.master); }));
  };
  for (;;) {
    const auto& open = held_.open();
    const auto related = std::find_if(open.begin(), open.end(), is_related);
    if (related == open.end()) return;
    close(**related);
  }
}

// On a thread of the device, in the order of the window's stream. Planning it only here costs the
// program's thread nothing, and the windows before have measured what blocks cost.
void Runtime::State::run_window(PlannedWindow& window, HeldStream& stream) {
  bool failed = false;
  ++running_windows_;
  try {
    if (!plan(window)) {
      run_one_by_one(window.held);
    } else if (times_tasks_) {
      run_timed(window);
    } else {
      executors_.run(window.tables);
    }
  } catch (...) {
    failed = true;
  }
  window_done(window.held, stream, failed);
}

// plan() is false where the window has no tables.
bool Runtime::State::plan(PlannedWindow& window) noexcept {
  try {
    planner_.plan(window, executors_.speeds());
    return true;
  } catch (const std::bad_alloc&) {
    // Without tables the launches are as right, and need less memory.
  } catch (...) {
    turn_off();
  }
  return false;
}

void Runtime::State::run_timed(const PlannedWindow& window) {
  megakernel::TaskTimes times(executors_.workers());
  executors_.run(window.tables, &times);
  std::vector<dro::TaskRecord> records = task_records(window, times, start_);
  const Lock lock(mutex_);
  if (journal_ == nullptr) return;  // finish() did not wait for this window
  for (dro::TaskRecord& record : records)
    journal_->note_tasks(std::move(record));
}

void Runtime::State::window_done(const LaunchWindow& window, HeldStream& stream, bool failed) {
  const Lock lock = lock_briefly_held(mutex_);
  const size_t launches = window.size();
  if (backend_ == nullptr) --running_windows_;
  --stream.outstanding;
  --outstanding_windows_;
  ended(launches);
  ++windows_ended_;
  launches_ended_ += launches;
  if (failed) {
    log::error("a window of {} launches ended with an error: its results are not to be used",
               launches);
    deferred_error_ = launch_failed;
  }
  try {
    if (governor_) judge(Governor::Way::tasks, window.called());
    if (stream.outstanding == 0) close(stream);
  } catch (...) {
    turn_off_locked();
  }
  // Under the lock, since whoever waits may end the life of this object as soon as it has it.
  window_ended_.notify_all();
}

void Runtime::State::ended(size_t launches) {
  outstanding_launches_ -= launches;
  if (has_room()) room_made_.notify_all();
}

void Runtime::State::flush() {
  const Lock lock(mutex_);
  close_windows();
}

void Runtime::State::wait_until_idle(Lock& lock, std::chrono::milliseconds patience) {
  close_windows();
  const auto idle = [&] { return outstanding_windows_ == 0 && held_.open().empty(); };
  if (patience == Runtime::forever) return window_ended_.wait(lock, idle);
  uint64_t ended = windows_ended_;
  while (!window_ended_.wait_for(lock, patience, idle)) {
    if (running_windows_ == 0 && windows_ended_ == ended) return;
    ended = windows_ended_;
  }
}

void Runtime::State::finish(std::chrono::milliseconds patience) {
  Lock lock(mutex_);
  wait_until_idle(lock, patience);
  if (finished_) return;
  finished_ = true;
  log::info("{} launches ran as tasks in {} windows", launches_ended_, windows_ended_);
  write_check_records();
  if (races_ != nullptr) races_->tell_summary();
  journal_.reset();
}

void Runtime::State::turn_off() noexcept {
  const Lock lock(mutex_);
  turn_off_locked();
}

void Runtime::State::turn_off_locked() noexcept {
  try {
    if (!std::exchange(off_, true)) {
      log::error("a bug in Sluice: {}; from here the program runs without it", what_was_thrown());
    }
    while (!held_.open().empty()) {
      HeldStream& stream = *held_.open().front();
      held_.closed(stream);
      launch_plainly(std::exchange(stream.window, {}), device_);
    }
  } catch (...) {
    // Nothing is left to be done for a program without memory.
    while (!held_.open().empty()) {
      HeldStream& stream = *held_.open().front();
      held_.closed(stream);
      stream.window = {};
    }
  }
}

}  // namespace sluice::runtime
