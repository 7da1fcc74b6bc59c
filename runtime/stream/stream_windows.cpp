#include "runtime/stream/stream_windows.hpp"

#include <algorithm>
#include <memory>

namespace sluice::runtime {
namespace {

// holds() is of a line whether its window has the event, is_beside() whether the device orders it
// with the stream's work though the stream takes no part in it.
auto holds(const void* event) {
  return [event](const WindowLine& line) { return line.window.parts().has_event(event); };
}
auto is_beside(const StreamKey& stream) {
  return [stream](const WindowLine& line) {
    return !line.window.parts().has(stream) && are_ordered(stream, line.window.stream());
  };
}

auto goes_before(const StreamKey& stream) {
  return [stream](const StreamKey& other) { return comes_before(other, stream); };
}

// outstanding_in() counts the launches with the device of what a handle stands for in this thread.
const std::shared_ptr<size_t>& outstanding_in(const HeldStream& stream) {
  if (!stream.key.is_per_thread()) return stream.launches;
  static thread_local const auto of_this_thread = std::make_shared<size_t>(0);
  return of_this_thread;
}

// Only what follows work of its own stream is held back: that work must end first in any case, and
// its end submits the window. Behind another stream's work a launch could wait for ever. So a new
// stream, whose handle may be wrong, lets the driver say so to this call. To the stream of a thread
// only that thread can submit, so nothing may stay behind for the device's.
bool goes_at_once(const WindowLine& line, size_t most_launches) {
  const LaunchWindow& window = line.window;
  return line.outstanding == 0 || window.size() >= most_launches || window.stream().is_per_thread();
}

}  // namespace

// line_for() is the line that a launch goes to. No window of several streams may begin behind what
// waits for the host.
WindowLine& StreamWindows::line_for(HeldStream& stream) {
  const bool enters = stream.line->is_joined() && !stream.line->window.parts().has(stream.key);
  if (enters && !device_.ends_by_itself(stream.key)) held_.leave(stream);
  if (stream.line->is_cut) close(*stream.line);
  return *stream.line;
}

void StreamWindows::wait_for_room(Gate::Lock& lock, const StreamKey& key) {
  given_.wait_for_room(lock, outstanding_in(held_.find(key)));
}

int StreamWindows::hold(const Known& launch, const BlockCode& code, Dependences on) {
  const LaunchCall& call = *launch.kernel.call;
  HeldStream& stream = held_.find(call.stream);
  WindowLine& line = line_for(stream);
  if (held_.any_open_but(line)) close_related(line, call.stream, on);
  LaunchWindow& window = line.window;
  std::shared_ptr<megakernel::BlockRunner> runner = observers_.watch(launch);
  if (window.empty()) {
    line.begin(call.stream, launch.number);
    held_.opened(line);
    observers_.tell(&Observer::window_opened, &line);
  }
  window.append(call, code.code, launch.kernel.parameters, launch.bound->touched);
  try {
    window.parts().of(call.stream).outstanding = outstanding_in(stream);
    HeldLaunch& held = window.last();
    held.number = launch.number;
    held.device = code.device;
    held.cost = code.cost;
    held.runner = std::move(runner);
    if (policy_.compares()) {
      policy_.count(line.sample, launch.kernel.function->kernel->pay, call.grid.count(), code.cost,
                    launch.called);
      line.sample.line = &line;
    }
    // A master outside the window is ordered before all of it: by its stream, or as the program
    // ordered the streams.
    for (const dro::Dependence& dependence : on) {
      if (window.holds(dependence.master))
        window.depend_on(dependence.master,
                         follower_.tracker().get().edge_table(dependence.dro->edges));
    }
    const bool at_once = together_ != &stream && goes_at_once(line, most_launches_);
    return at_once ? submit(line) : 0;
  } catch (...) {
    gate_.fail();  // which gives this launch to the driver, with those before it
    return 0;
  }
}

// What a row depends on was launched before it, but for what is in it.
void StreamWindows::Together::hold(const GivenRow& given, dro::LaunchNumber first,
                                   const Policy::Row& pay, int64_t called) {
  WindowLine& line = streams_.line_for(stream_);
  if (streams_.held_.any_open_but(line)) {
    std::vector<dro::Dependence> on;
    auto dependence = given.row->dependences.begin();
    for (const HeldLaunch& launch : given.row->launches)
      for (uint32_t i = 0; i < launch.dependence_count; ++i)
        on.push_back({.master = (dependence++)->on.master_of(first + launch.number)});
    streams_.close_related(line, stream_.key, on);
  }
  LaunchWindow& window = line.window;
  if (window.empty()) {
    line.begin(stream_.key, first);
    streams_.held_.opened(line);
    streams_.observers_.tell(&Observer::window_opened, &line);
  }
  window.append(given, stream_.key, first);
  window.parts().of(stream_.key).outstanding = outstanding_in(stream_);
  if (!streams_.policy_.compares()) return;
  pay.count(streams_.policy_, line.sample, called);
  line.sample.line = &line;
}

GivenRow StreamWindows::Together::held(const dro::LaunchRow& row, dro::LaunchNumber first) const {
  return row_in(stream_.line->window, row, first, streams_.follower_.tracker().get());
}

StreamWindows::Together::~Together() {
  streams_.together_ = nullptr;
  try {
    WindowLine& line = *stream_.line;
    if (!line.window.empty() && goes_at_once(line, streams_.most_launches_)) streams_.close(line);
  } catch (...) {
    streams_.gate_.fail();
  }
}

int StreamWindows::submit(WindowLine& line) {
  if (line.window.empty()) return 0;
  const auto window = std::make_shared<PlannedWindow>();
  line.window.parts().end(line.window.size());
  window->held = std::exchange(line.window, {});
  held_.closed(line);
  observers_.tell(&Observer::window_closed, &line);
  const LaunchWindow::Room room = window->held.room();
  line.room = LaunchWindow::larger(room, std::exchange(line.last_room, room));
  return given_.give(line, window);
}

// An error is kept for the next launch: those it belongs to have returned to the program.
void StreamWindows::close(WindowLine& line) {
  given_.keep_error(submit(line));
}

void StreamWindows::cut() {
  for (WindowLine* const line : held_.open())
    line->is_cut = true;
}

void StreamWindows::close() {
  given_.come_first([](const StreamKey&) { return true; });
  while (!held_.open().empty())
    close(*held_.open().front());
  events_.clear();
}

// What goes first is what the device orders with the launch's stream unasked, and what holds a
// master of it.
void StreamWindows::close_related(const WindowLine& line, const StreamKey& stream, Dependences on) {
  close_those([&](const WindowLine& other) {
    return &other != &line && (are_ordered(stream, other.window.stream()) ||
                               std::ranges::any_of(on, [&](const dro::Dependence& found) {
                                 return other.window.holds(found.master);
                               }));
  });
}

template <class Which>
void StreamWindows::close_those(const Which& which) {
  for (;;) {
    const auto found =
        std::ranges::find_if(held_.open(), [&](const WindowLine* line) { return which(*line); });
    if (found == held_.open().end()) return;
    close(**found);
  }
}

bool StreamWindows::record(void* event, const StreamKey& key) {
  given_.come_first(goes_before(key));
  close_those(is_beside(key));
  HeldStream& stream = held_.find(key);
  WindowLine& line = *stream.line;
  KnownEvent known{.stream = &stream};
  if (line.window.parts().has(key)) {
    const size_t events = line.window.parts().events().size();
    std::shared_ptr<void> promise;
    if (events < most_launches_) promise = device_.promise_event(event, key);
    if (promise != nullptr) {
      known.line = &line;
      known.window = line.window.first();
      known.place = static_cast<uint32_t>(events);
      line.window.parts().record(event, key, line.window.size(), std::move(promise));
    } else {
      close(line);
    }
  }
  events_.note(event, known);
  return known.line != nullptr;
}

// takes_part() is whether a stream can wait for a held event within its window.
bool StreamWindows::takes_part(HeldStream& stream, const KnownEvent& event) {
  WindowLine& line = *event.line;
  if (line.window.parts().has(stream.key)) return true;
  const StreamKey& other = event.stream->key;
  const bool may_join = other.context == stream.key.context && !other.is_default() &&
                        device_.ends_by_itself(stream.key) &&
                        (line.is_joined() || device_.ends_by_itself(other));
  if (!may_join) return false;
  if (line.in_device == nullptr) line.in_device = device_.make_line();
  if (line.in_device == nullptr) return false;
  if (stream.line == &line) return true;
  close(*stream.line);
  held_.join(*stream.line, line);
  line.window.parts().set_line(line.in_device);
  return true;
}

bool StreamWindows::wait(void* event, const StreamKey& key) {
  given_.come_first(goes_before(key));
  close_those(is_beside(key));
  HeldStream& stream = held_.find(key);
  const KnownEvent* const known = events_.find(event);
  // Where it was held, the window that records it may be on its way.
  if (known != nullptr && !known->is_held()) given_.come_first(goes_before(known->stream->key));
  if (known != nullptr && known->is_held() && takes_part(stream, *known)) {
    known->line->window.parts().wait(key, known->place);
    return true;
  }
  WindowLine& line = *stream.line;
  if (line.window.parts().has(key)) {
    if (device_.is_reached(event)) return true;
    // The window begins behind all that a stream has which takes part in it.
    if (known != nullptr && !known->is_held() && line.is_joined() && known->stream->line == &line &&
        device_.ends_by_itself(known->stream->key)) {
      line.window.parts().of(known->stream->key);
      return true;
    }
    close(line);
  }
  close_those(holds(event));
  return false;
}

void StreamWindows::close_for(const Observed& observed) {
  if (const auto* before = std::get_if<BeforeEvent>(&observed)) {
    close_those(holds(before->event));
    if (const KnownEvent* const known = events_.find(before->event)) held_.leave(*known->stream);
  } else if (const auto* of = std::get_if<OfStream>(&observed)) {
    given_.come_first(goes_before(of->stream));
    close_those([&](const WindowLine& line) {
      return line.window.parts().has(of->stream) || are_ordered(of->stream, line.window.stream());
    });
    if (HeldStream* const stream = held_.known(of->stream)) held_.leave(*stream);
  } else {
    close();
    held_.leave_all();
    if (std::holds_alternative<EndOfContext>(observed)) held_.forget_devices();
  }
}

dro::StreamName StreamWindows::name_of(const StreamKey& key) {
  HeldStream& stream = held_.find(key);
  if (!stream.device) stream.device = device_.device_of(key.context);
  return {held_.number_of(stream), *stream.device};
}

void StreamWindows::wait_until_idle(Gate::Lock& lock, std::chrono::milliseconds patience) {
  close();
  given_.wait_until([this] { return !holds_any(); }, lock, patience);
}

void StreamWindows::let_go() noexcept {
  while (holds_any()) {
    WindowLine& line = *held_.open().front();
    held_.closed(line);
    LaunchWindow window = std::exchange(line.window, {});
    try {
      launch_plainly(window, device_);
    } catch (...) {
      // Nothing is left to be done for a program without memory.
    }
  }
}

}  // namespace sluice::runtime
