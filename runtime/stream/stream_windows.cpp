#include "runtime/stream/stream_windows.hpp"

#include <algorithm>
#include <memory>
#include <new>

#include "base/log.hpp"
#include "runtime/stream/default_streams.hpp"

namespace sluice::runtime {
namespace {

constexpr int out_of_memory = 2;    // CUDA_ERROR_OUT_OF_MEMORY
constexpr int launch_failed = 719;  // CUDA_ERROR_LAUNCH_FAILED

// is_default_stream() holds for the legacy default stream, by either of its handles, which is
// ordered with all blocking streams, and for CU_STREAM_PER_THREAD.
bool is_default_stream(const void* stream) {
  return stream <= per_thread_stream;
}

// are_ordered() is whether the device may order the work of two streams unasked.
bool are_ordered(const void* stream, const void* other) {
  return is_default_stream(stream) || is_default_stream(other);
}

// outstanding_in() counts the launches with the device of what a handle stands for in this thread.
const std::shared_ptr<size_t>& outstanding_in(const HeldStream& stream, const void* handle) {
  if (handle != per_thread_stream) return stream.launches;
  static thread_local const auto of_this_thread = std::make_shared<size_t>(0);
  return of_this_thread;
}

// Only what follows work of its own stream is held back: that work must end first in any case, and
// its end submits the window. Behind another stream's work a launch could wait for ever. So a new
// stream, whose handle may be wrong, lets the driver say so to this call. To the stream of a thread
// only that thread can submit, so nothing may stay behind for the device's.
bool goes_at_once(const HeldStream& stream, size_t most_launches) {
  const LaunchWindow& window = stream.window;
  return stream.outstanding == 0 || window.size() >= most_launches ||
         window.stream() == per_thread_stream;
}

}  // namespace

// Launches that waited for room go on when half of those outstanding have ended: a thread that is
// woken at each window's end takes the processor each time from the thread that is about to run the
// next one. What is left lasts until a thread that finds all processors busy gets one.
void StreamWindows::wait_for_room(Gate::Lock& lock, void* handle) {
  const std::shared_ptr<size_t> outstanding = outstanding_in(held_.find(handle), handle);
  if (*outstanding >= limits_.outstanding)
    room_made_.wait(lock, [&] { return has_room(*outstanding); });
}

int StreamWindows::hold(const Known& launch, const BlockCode& code, Dependences on) {
  const LaunchCall& call = *launch.kernel.call;
  HeldStream& stream = held_.find(call.stream);
  if (held_.any_open_but(stream)) close_related(stream, call, on);
  LaunchWindow& window = stream.window;
  std::shared_ptr<megakernel::BlockRunner> runner = observers_.watch(launch);
  if (window.empty()) {
    window = LaunchWindow(call.stream, launch.number, stream.room);
    stream.sample = {};
    held_.opened(stream);
    observers_.tell(&Observer::window_opened, &stream);
  }
  window.append(call, code.code, launch.kernel.parameters, launch.bound->touched);
  try {
    window.skip_to(launch.number);
    window.run_on_device(code.device);
    window.measure(code.cost);
    window.watch(std::move(runner));
    if (policy_.compares()) {
      policy_.count(stream.sample, launch.kernel.function->kernel->pay, call.grid.count(),
                    code.cost, launch.called);
    }
    // A master outside the window is ordered before all of it: by its stream, or as the program
    // ordered the streams.
    for (const dro::Dependence& dependence : on) {
      if (window.holds(dependence.master))
        window.depend_on(dependence.master,
                         follower_.tracker().get().edge_table(dependence.dro->edges));
    }
    const bool at_once = together_ != &stream && goes_at_once(stream, limits_.window_launches);
    return at_once ? submit(stream) : 0;
  } catch (...) {
    gate_.fail();  // which gives this launch to the driver, with those before it
    return 0;
  }
}

StreamWindows::Together::~Together() {
  streams_.together_ = nullptr;
  try {
    const bool is_held = !stream_.window.empty();
    if (is_held && goes_at_once(stream_, streams_.limits_.window_launches)) streams_.close(stream_);
  } catch (...) {
    streams_.gate_.fail();
  }
}

int StreamWindows::submit(HeldStream& stream) {
  if (stream.window.empty()) return 0;
  const auto window = std::make_shared<PlannedWindow>();
  window->held = std::exchange(stream.window, {});
  held_.closed(stream);
  observers_.tell(&Observer::window_closed, &stream);
  const size_t launches = window->held.size();
  const LaunchWindow::Room room = window->held.room();
  stream.room = LaunchWindow::larger(room, std::exchange(stream.last_room, room));
  const std::shared_ptr<size_t> outstanding = outstanding_in(stream, window->held.stream());
  ++stream.outstanding;
  ++outstanding_;
  *outstanding += launches;
  int result = out_of_memory;
  try {
    result = runner_.submit(window, [this, window = window.get(), &stream, outstanding,
                                     sample = stream.sample](bool failed,
                                                             const megakernel::TaskTimes* times) {
      forget(stream, *outstanding, window->held.size());
      ++ended_.windows;
      ended_.launches += window->held.size();
      if (failed) {
        log::error("a window of {} launches ended with an error: its results are not to be used",
                   window->held.size());
        late_error_ = launch_failed;
      }
      if (times != nullptr) observers_.tell(&Observer::window_ran, *window, *times);
      this->ended(stream, Policy::Way::tasks, sample);
    });
  } catch (const std::bad_alloc&) {
    // The launches are still here, and may go on without a window.
  } catch (...) {
    gate_.fail();
  }
  if (result == 0) return 0;
  forget(stream, *outstanding, launches);
  // Where the device has failed it refuses launches as well, and the program is told that.
  if (const int plainly = launch_plainly(window->held, device_)) return plainly;
  log::warning("the device takes no windows on this stream (error {}): launches run one by one",
               result);
  return 0;
}

void StreamWindows::forget(HeldStream& stream, size_t& outstanding, size_t launches) {
  --stream.outstanding;
  --outstanding_;
  outstanding -= launches;
  window_ended_.notify_all();
  if (has_room(outstanding)) room_made_.notify_all();
}

void StreamWindows::ended(HeldStream& stream, Policy::Way way, const Policy::Sample& sample) {
  const auto verdict = policy_.compares() ? policy_.ended(way, sample) : std::nullopt;
  if (verdict) follower_.tell(*verdict);
  if (stream.outstanding == 0) close(stream);
}

void StreamWindows::when_done(void* handle, const Policy::Sample& sample) {
  HeldStream& stream = held_.find(handle);
  ++stream.outstanding;  // as a window of no launches
  ++outstanding_;
  int result = out_of_memory;
  try {
    result = device_.enqueue(handle, [this, sample, &stream] {
      gate_.enter([&](Gate::Lock&) {
        forget(stream, *stream.launches, 0);
        this->ended(stream, Policy::Way::plain, sample);
      });
    });
  } catch (const std::bad_alloc&) {
    // The launches count for nothing.
  }
  if (result != 0) forget(stream, *stream.launches, 0);
}

// An error is kept for the next launch: those it belongs to have returned to the program.
void StreamWindows::close(HeldStream& stream) {
  const int result = submit(stream);
  if (result != 0) late_error_ = result;
}

void StreamWindows::close() {
  while (!held_.open().empty())
    close(*held_.open().front());
}

// What goes first is what the device orders with the launch's stream unasked, and what holds a
// master of it.
void StreamWindows::close_related(const HeldStream& stream, const LaunchCall& call,
                                  Dependences on) {
  close_those([&](const HeldStream& other) {
    return &other != &stream && (are_ordered(call.stream, other.window.stream()) ||
                                 std::ranges::any_of(on, [&](const dro::Dependence& found) {
                                   return other.window.holds(found.master);
                                 }));
  });
}

template <class Which>
void StreamWindows::close_those(const Which& which) {
  for (;;) {
    const auto found =
        std::ranges::find_if(held_.open(), [&](const HeldStream* held) { return which(*held); });
    if (found == held_.open().end()) return;
    close(**found);
  }
}

bool StreamWindows::record(void* event, void* handle) {
  const auto is_own = [&](const HeldStream& held) { return held.window.stream() == handle; };
  close_those([&](const HeldStream& held) {
    return !is_own(held) && are_ordered(handle, held.window.stream());
  });
  const auto own =
      std::ranges::find_if(held_.open(), [&](const HeldStream* held) { return is_own(*held); });
  if (own == held_.open().end()) return false;
  HeldStream& stream = **own;
  if (stream.window.events().size() < limits_.window_launches) {
    if (std::shared_ptr<void> promise = device_.promise_event(event, handle)) {
      const auto launches = static_cast<uint32_t>(stream.window.size());
      stream.window.events().push_back({event, launches, std::move(promise)});
      return true;
    }
  }
  close(stream);
  return false;
}

void StreamWindows::close_for_event(const void* event) {
  close_those([event](const HeldStream& held) {
    const std::vector<HeldEvent>& events = held.window.events();
    return std::ranges::find(events, event, &HeldEvent::event) != events.end();
  });
}

void StreamWindows::close_for_stream(void* handle) {
  close_those([handle](const HeldStream& held) {
    return held.window.stream() == handle || are_ordered(handle, held.window.stream());
  });
}

void StreamWindows::wait_until_idle(Gate::Lock& lock, std::chrono::milliseconds patience) {
  close();
  const auto idle = [&] { return outstanding_ == 0 && !holds_any(); };
  if (patience == forever) return window_ended_.wait(lock, idle);
  size_t ended = ended_.windows;
  while (!window_ended_.wait_for(lock, patience, idle)) {
    if (runner_.running() == 0 && ended_.windows == ended) return;
    ended = ended_.windows;
  }
}

void StreamWindows::let_go() noexcept {
  while (holds_any()) {
    HeldStream& stream = *held_.open().front();
    held_.closed(stream);
    LaunchWindow window = std::exchange(stream.window, {});
    try {
      launch_plainly(window, device_);
    } catch (...) {
      // Nothing is left to be done for a program without memory.
    }
  }
}

}  // namespace sluice::runtime
