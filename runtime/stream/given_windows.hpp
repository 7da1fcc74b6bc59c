// Windows that have been closed: given to the device, and not ended.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <functional>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "runtime/check/observer.hpp"
#include "runtime/device.hpp"
#include "runtime/gate.hpp"
#include "runtime/launch/launch_follower.hpp"
#include "runtime/policy/policy.hpp"
#include "runtime/stream/held_streams.hpp"
#include "runtime/stream/on_their_way.hpp"
#include "runtime/stream/window_runner.hpp"

namespace sluice::runtime {

// GivenWindows. All its functions but those of errors are called under the lock.
class GivenWindows {
 public:
  static constexpr std::chrono::milliseconds forever = std::chrono::milliseconds::max();

  // At `room` launches of one stream with the device wait_for_room() waits.
  GivenWindows(Gate& gate, Device& device, WindowRunner& runner, Policy& policy,
               LaunchFollower& follower, const Observers& observers, size_t room)
      : gate_(gate),
        device_(device),
        runner_(runner),
        policy_(policy),
        follower_(follower),
        observers_(observers),
        room_(room) {}

  // on_idle() says who hears that nothing of a line is with the device any more.
  void on_idle(std::function<void(WindowLine&)> call) { idle_ = std::move(call); }

  // give() gives a window that was the line's, which is not empty, to the device, or its launches
  // one by one. Returns what the program gets. Where the device's calls may wait that is 0, and
  // they are made when the calling thread has let go of the lock: take_refusal() has what they say.
  int give(WindowLine& line, const std::shared_ptr<PlannedWindow>& window);
  // come_first() has the calling thread, when it lets go of the lock, go on only behind the windows
  // on their way there of the streams that `which` holds of.
  void come_first(const OnTheirWay::Which& which);
  bool any_on_their_way() { return on_their_way_.any(); }

  // when_done() has the policy hear of plain launches when the device has ended all that the stream
  // has so far. Where the device takes no such work it never does.
  void when_done(WindowLine& line, const StreamKey& stream, Policy::Sample sample);

  // wait_for_room() returns when no more of these launches are outstanding than may be.
  void wait_for_room(Gate::Lock& lock, const std::shared_ptr<size_t>& outstanding);
  // wait_until() returns when none is with the device and `holds_none`; also where `patience`
  // passes and none has ended meanwhile or is running.
  void wait_until(const std::function<bool()>& holds_none, Gate::Lock& lock,
                  std::chrono::milliseconds patience);

  // take_error() is what the device said of launches whose calls had returned, once; else 0.
  // take_refusal() is that of those calls alone that it refused since then. Thread-safe, all three.
  int take_refusal() { return refusal_ == 0 ? 0 : refusal_.exchange(0); }
  int take_error() {
    const int refusal = take_refusal();
    return refusal != 0 || late_error_ == 0 ? refusal : late_error_.exchange(0);
  }
  void keep_error(int error) {
    if (error != 0) late_error_ = error;
  }

  struct Count {
    size_t windows = 0;
    size_t launches = 0;
    size_t plainly = 0;  // launches that were held back and did not pay as a window
  };
  const Count& ended() const { return ended_; }

 private:
  int give_plainly(WindowLine& line, const std::shared_ptr<PlannedWindow>& window);
  void give_later(WindowLine& line, const std::shared_ptr<PlannedWindow>& window,
                  WindowRunner::Ended ended);
  WindowRunner::Ended end_of(WindowLine& line, const std::shared_ptr<PlannedWindow>& window);
  std::function<void()> end_of_plain(WindowLine& line, const Policy::Sample& sample = {});
  void put_off(WindowLine& line, const LaunchWindow& window, std::function<int()> submission);
  void count(WindowLine& line, std::span<const WindowPart> parts);
  void forget(WindowLine& line, std::span<const WindowPart> parts);
  bool has_room(size_t launches) const { return launches <= room_ / 2; }
  void ended(WindowLine& line, Policy::Way way, const Policy::Sample& sample);

  Gate& gate_;
  Device& device_;
  WindowRunner& runner_;
  Policy& policy_;
  LaunchFollower& follower_;
  const Observers& observers_;
  const size_t room_;
  std::function<void(WindowLine&)> idle_;
  OnTheirWay on_their_way_;
  size_t outstanding_ = 0;  // windows
  Count ended_;
  std::atomic<int> late_error_{0};
  std::atomic<int> refusal_{0};
  std::condition_variable window_ended_;
  std::condition_variable room_made_;  // has_room() may hold of a stream
};

}  // namespace sluice::runtime
