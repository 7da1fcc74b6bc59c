#include "runtime/stream/given_windows.hpp"

#include <algorithm>
#include <new>

#include <fmt/format.h>

#include "base/log.hpp"

namespace sluice::runtime {
namespace {

constexpr int out_of_memory = 2;    // CUDA_ERROR_OUT_OF_MEMORY
constexpr int launch_failed = 719;  // CUDA_ERROR_LAUNCH_FAILED

// So long a program waits for samples, whose device may wait for the program: as Lead::most.
constexpr std::chrono::milliseconds longest_wait{100};

// may_go_plainly() is false where a driver's stream might have no room: it takes 1024 operations
// before a call waits.
bool may_go_plainly(const WindowLine& line, const LaunchWindow& window) {
  constexpr size_t most_outstanding = 2;
  constexpr size_t most_launches = 256;
  return window.size() == 1 ||
         (line.outstanding < most_outstanding && window.size() <= most_launches);
}

// give_one_by_one() gives the program's driver what it would not take as a window.
int give_one_by_one(LaunchWindow& window, Device& device, int refused) {
  // Where the device has failed it refuses launches as well, and the program is told that.
  if (const int error = launch_plainly(window, device)) return error;
  log::warning("the device takes no windows on this stream (error {}): launches run one by one",
               refused);
  return 0;
}

}  // namespace

int GivenWindows::give(WindowLine& line, const std::shared_ptr<PlannedWindow>& window) {
  LaunchWindow& held = window->held;
  if (may_go_plainly(line, held) && !runner_.pays(held)) return give_plainly(line, window);
  const auto parts = held.parts().all();
  count(line, parts);
  int result = out_of_memory;
  try {
    WindowRunner::Ended ended = end_of(line, window);
    if (runner_.may_wait()) {
      give_later(line, window, std::move(ended));
      return 0;
    }
    result = runner_.submit(window, std::move(ended));
  } catch (const std::bad_alloc&) {
    // The launches are still here, and may go on without a window.
  } catch (...) {
    gate_.fail();
  }
  if (result == 0) return 0;
  forget(line, parts);
  return give_one_by_one(held, device_, result);
}

void GivenWindows::give_later(WindowLine& line, const std::shared_ptr<PlannedWindow>& window,
                              WindowRunner::Ended ended) {
  put_off(line, window->held, [this, &line, window, ended = std::move(ended)] {
    int result = out_of_memory;
    try {
      result = runner_.submit(window, ended);
    } catch (const std::bad_alloc&) {
      // As above.
    } catch (...) {
      gate_.enter([](Gate::Lock&) { throw; });
    }
    if (result == 0) return 0;
    const int error = give_one_by_one(window->held, device_, result);
    gate_.enter([&](Gate::Lock&) { forget(line, window->held.parts().all()); });
    return error;
  });
}

// What comes meanwhile is held back all the same, and may pay.
int GivenWindows::give_plainly(WindowLine& line, const std::shared_ptr<PlannedWindow>& window) {
  if (ended_.plainly == 0) {
    follower_.tell(
        fmt::format("from launch {} on some went to the device as they are: in a window of so few "
                    "they take longer than that spares",
                    window->held.first()));
  }
  ended_.plainly += window->held.size();
  count(line, {});
  put_off(line, window->held, [this, &line, window] {
    const StreamKey stream = window->held.stream();
    const int error = launch_plainly(window->held, device_);
    const bool will_be_told =
        error == 0 && !stream.is_per_thread() && runner_.when_done(stream, end_of_plain(line)) == 0;
    if (!will_be_told) gate_.enter([&](Gate::Lock&) { forget(line, {}); });
    return error;
  });
  return 0;
}

WindowRunner::Ended GivenWindows::end_of(WindowLine& line,
                                         const std::shared_ptr<PlannedWindow>& window) {
  return [this, window = window.get(), &line, sample = line.sample](
             bool failed, const megakernel::TaskTimes* times) {
    forget(line, window->held.parts().all());
    ++ended_.windows;
    ended_.launches += window->held.size();
    if (failed) {
      log::error("a window of {} launches ended with an error: its results are not to be used",
                 window->held.size());
      late_error_ = launch_failed;
    }
    if (times != nullptr) observers_.tell(&Observer::window_ran, *window, *times);
    this->ended(line, Policy::Way::tasks, sample);
  };
}

std::function<void()> GivenWindows::end_of_plain(WindowLine& line, const Policy::Sample& sample) {
  return [this, &line, sample] {
    forget(line, {});
    this->ended(line, Policy::Way::plain, sample);
  };
}

// A window goes behind those before it that the device orders with it, whichever thread gives them.
void GivenWindows::put_off(WindowLine& line, const LaunchWindow& window,
                           std::function<int()> submission) {
  std::vector<StreamKey> streams = window.parts().streams();
  std::vector<OnItsWay> before = on_their_way_.of([&](const StreamKey& other) {
    return std::ranges::any_of(
        streams, [&](const StreamKey& stream) { return comes_before(other, stream); });
  });
  auto give = [this, before = std::move(before), submission = std::move(submission)] {
    for (const OnItsWay& earlier : before)
      earlier.give();
    try {
      if (const int error = submission()) refusal_ = error;
    } catch (...) {
      gate_.enter([](Gate::Lock&) { throw; });
    }
  };
  // To the stream of a thread only that thread can give.
  if (window.stream().is_per_thread()) return gate_.after(std::move(give));
  OnItsWay one{&line.submissions, line.submissions.next(), std::move(streams)};
  on_their_way_.add(one);
  gate_.after([one = std::move(one)] { one.give(); });
  line.submissions.add(std::move(give));
}

void GivenWindows::come_first(const OnTheirWay::Which& which) {
  for (OnItsWay& one : on_their_way_.of(which))
    gate_.after([one = std::move(one)] { one.give(); });
}

void GivenWindows::count(WindowLine& line, std::span<const WindowPart> parts) {
  ++line.outstanding;
  ++outstanding_;
  for (const WindowPart& part : parts)
    if (part.launches != 0) *part.outstanding += part.launches;
}

void GivenWindows::forget(WindowLine& line, std::span<const WindowPart> parts) {
  --line.outstanding;
  --outstanding_;
  bool makes_room = false;
  for (const WindowPart& part : parts) {
    if (part.launches == 0) continue;
    *part.outstanding -= part.launches;
    makes_room = makes_room || has_room(*part.outstanding);
  }
  window_ended_.notify_all();
  if (makes_room) room_made_.notify_all();
}

void GivenWindows::ended(WindowLine& line, Policy::Way way, const Policy::Sample& sample) {
  const auto verdict = policy_.compares() ? policy_.ended(way, sample) : std::nullopt;
  if (verdict) follower_.tell(*verdict);
  if (way == Policy::Way::plain) room_made_.notify_all();
  if (line.outstanding == 0) idle_(line);
}

void GivenWindows::when_done(WindowLine& line, const StreamKey& stream, Policy::Sample sample) {
  sample.line = &line;
  count(line, {});  // as a window of no launches
  int result = out_of_memory;
  try {
    result = runner_.when_done(stream, end_of_plain(line, sample));
  } catch (const std::bad_alloc&) {
    // The launches count for nothing.
  }
  if (result != 0) forget(line, {});
}

// Launches that waited for room go on when half of those outstanding have ended: a thread that is
// woken at each window's end takes the processor each time from the thread that is about to run the
// next one. What is left lasts until a thread that finds all processors busy gets one.
void GivenWindows::wait_for_room(Gate::Lock& lock, const std::shared_ptr<size_t>& outstanding) {
  if (*outstanding >= room_) room_made_.wait(lock, [&] { return has_room(*outstanding); });
  const auto has_samples = [this] { return !awaits_samples(policy_); };
  if (!has_samples() && !room_made_.wait_for(lock, longest_wait, has_samples))
    await_no_longer(policy_);
}

void GivenWindows::wait_until(const std::function<bool()>& holds_none, Gate::Lock& lock,
                              std::chrono::milliseconds patience) {
  gate_.step_out(lock);
  const auto idle = [&] { return outstanding_ == 0 && holds_none(); };
  if (patience == forever) return window_ended_.wait(lock, idle);
  size_t ended = ended_.windows;
  while (!window_ended_.wait_for(lock, patience, idle)) {
    if (runner_.running() == 0 && ended_.windows == ended) return;
    ended = ended_.windows;
  }
}

}  // namespace sluice::runtime
