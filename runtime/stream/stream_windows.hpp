// What is held back of all streams, and when it goes to the device.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <span>

#include "runtime/check/observer.hpp"
#include "runtime/code/kernel.hpp"
#include "runtime/device.hpp"
#include "runtime/gate.hpp"
#include "runtime/launch/launch_follower.hpp"
#include "runtime/observed.hpp"
#include "runtime/policy/policy.hpp"
#include "runtime/stream/given_windows.hpp"
#include "runtime/stream/held_streams.hpp"
#include "runtime/stream/known_events.hpp"

namespace sluice::runtime {

// StreamWindows holds launches back in a window for each stream while the device has work of that
// stream, and gives the windows to the device; streams that wait for each other's events share
// their windows (WindowLine). All its functions are called under the lock.
class StreamWindows {
 public:
  struct Limits {
    size_t window_launches = 0;  // a window closes at this many launches
    // At so many launches of one stream given to the device wait_for_room() waits.
    size_t outstanding = 0;
  };
  static constexpr std::chrono::milliseconds forever = GivenWindows::forever;

  StreamWindows(Gate& gate, Device& device, WindowRunner& runner, Policy& policy,
                LaunchFollower& follower, const Observers& observers, const Limits& limits)
      : gate_(gate),
        device_(device),
        policy_(policy),
        follower_(follower),
        observers_(observers),
        most_launches_(limits.window_launches),
        given_(gate, device, runner, policy, follower, observers, limits.outstanding) {
    given_.on_idle([this](WindowLine& line) { close(line); });
  }

  // name_of() is the stream's in the journal; it finds streams in the order of their launches.
  dro::StreamName name_of(const StreamKey& stream);
  bool holds_any() const { return !held_.open().empty(); }
  // first_held() is the first launch that is held back before `next`, or that.
  dro::LaunchNumber first_held(dro::LaunchNumber next) const {
    for (const WindowLine* line : held_.open())
      next = std::min(next, line->window.first());
    return next;
  }
  // wait_for_room() returns when no more launches of the stream are outstanding than may be. Other
  // streams' don't count: what they wait for may be this thread.
  void wait_for_room(Gate::Lock& lock, const StreamKey& stream);

  // hold() takes a launch and returns what its program gets. `on` is what it depends on.
  int hold(const Known& launch, const BlockCode& code, Dependences on);
  // While a Together lives, what is held in a stream is not given to the device for its size, or
  // since the device waits for it: launches that belong together go there at once.
  class Together {
   public:
    Together(StreamWindows& streams, const StreamKey& stream)
        : streams_(streams), stream_(streams.held_.find(stream)) {
      streams_.together_ = &stream_;
    }
    ~Together();
    Together(const Together&) = delete;
    Together& operator=(const Together&) = delete;

    // hold() takes a row of launches, numbered from `first`. Throws std::bad_alloc, and then took
    // none. held() is the row of what the stream holds from `first` on, so many launches, which
    // depend on each other as `row` says; none where it does not hold them one behind the other.
    void hold(const GivenRow& given, dro::LaunchNumber first, const Policy::Row& pay,
              int64_t called);
    GivenRow held(const dro::LaunchRow& row, dro::LaunchNumber first) const;

   private:
    StreamWindows& streams_;
    HeldStream& stream_;
  };

  // when_done() has the policy hear of plain launches when the device has ended all that the stream
  // has so far, and holds back what comes before that. Where the device takes no such work it never
  // does.
  void when_done(const StreamKey& stream, const Policy::Sample& sample) {
    given_.when_done(*held_.find(stream).line, stream, sample);
  }

  // record() takes an event that the program records in the stream, where launches are held back
  // there. False: the driver has to record it; whatever must come before it has been given to the
  // device.
  bool record(void* event, const StreamKey& stream);
  // wait() takes a wait of the stream for an event. Where the event is held, the stream's launches
  // go on in the same windows, as long as nobody observes it: that they must come after the event's
  // they know by their dependences. False: the driver has to wait; what is before the event and
  // before the wait has been given to the device.
  bool wait(void* event, const StreamKey& stream);
  // close_for() gives to the device what may be observed: all, what a held event comes after, or
  // what the stream holds and what the device orders before further work of it.
  void close_for(const Observed& observed);

  // cut() has nothing join what is held back: the next launch of a stream gives that first.
  void cut();
  // close() gives all that is held back to the device.
  void close();
  // wait_until_idle() closes all windows and returns when none is left with the device; also where
  // `patience` passes and none has ended meanwhile or is running.
  void wait_until_idle(Gate::Lock& lock, std::chrono::milliseconds patience = forever);
  GivenWindows& given() { return given_; }
  // let_go() gives all that is held back to the driver, launch by launch.
  void let_go() noexcept;

 private:
  WindowLine& line_for(HeldStream& stream);
  int submit(WindowLine& line);
  void close(WindowLine& line);
  template <class Which>
  void close_those(const Which& which);
  void close_related(const WindowLine& line, const StreamKey& stream, Dependences on);
  bool takes_part(HeldStream& stream, const KnownEvent& event);

  Gate& gate_;
  Device& device_;
  Policy& policy_;
  LaunchFollower& follower_;
  const Observers& observers_;
  const size_t most_launches_;
  GivenWindows given_;
  HeldStreams held_;
  KnownEvents events_;
  const HeldStream* together_ = nullptr;
};

}  // namespace sluice::runtime
