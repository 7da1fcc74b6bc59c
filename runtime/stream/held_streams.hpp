// What is held back, stream by stream.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <unordered_map>
#include <vector>

#include "megakernel/stream_key.hpp"
#include "runtime/policy/policy.hpp"
#include "runtime/stream/submissions.hpp"
#include "runtime/window.hpp"

namespace sluice::runtime {

// are_ordered() is whether the device may order the work of two streams unasked: a context's legacy
// default stream with all its blocking ones, and its threads' own with nobody knows which.
inline bool are_ordered(const StreamKey& stream, const StreamKey& other) {
  return stream.context == other.context && (stream.is_default() || other.is_default());
}

// comes_before() holds of a stream whose earlier work the device has go before the other's.
inline bool comes_before(const StreamKey& stream, const StreamKey& other) {
  return stream == other || are_ordered(stream, other);
}

struct WindowLine;

// HeldStream is what is known of a stream.
struct HeldStream {
  StreamKey key;
  uint64_t number = 0;  // in the journal; is_numbered: it has one
  bool is_numbered = false;
  std::optional<uint32_t> device;  // of its context, where it has been asked for
  WindowLine* line = nullptr;      // of the windows that its launches go to
  // Launches with the device. Each thread's own default stream, of which all have one handle, has
  // its own.
  std::shared_ptr<size_t> launches = std::make_shared<size_t>(0);
};

// WindowLine is windows one after the other: of one stream, or of several that wait for each
// other's events.
struct WindowLine {
  std::vector<HeldStream*> streams;
  LaunchWindow window;      // what is held back
  Policy::Sample sample;    // of its launches
  LaunchWindow::Room room;  // what the larger of its last two windows took
  LaunchWindow::Room last_room;
  bool is_cut = false;        // nothing joins the window any more
  size_t outstanding = 0;     // windows given to the device that have not ended
  void* in_device = nullptr;  // Device::make_line(), where it was ever of several streams
  Submissions submissions;    // to a backend

  bool is_joined() const { return streams.size() > 1; }
  // begin() is an empty window's first launch, of that stream and number.
  void begin(const StreamKey& stream, dro::LaunchNumber number) {
    window = LaunchWindow(stream, number, room, is_joined() ? in_device : nullptr);
    sample = {};
    is_cut = false;
  }
};

// HeldStreams finds streams and their lines. Both stay where they are. Not
// thread-safe.
class HeldStreams {
 public:
  // find() is a stream, on its first call of a line of its own; known() is null before.
  HeldStream& find(const StreamKey& stream);
  HeldStream* known(const StreamKey& stream);
  // number_of() numbers the streams: the legacy default stream, of the context of which it is asked
  // for first, is 0; the others count from 1 in the order in which they are first asked for.
  uint64_t number_of(HeldStream& stream);
  // A context's handle may be that of another device's when it has ended.
  void forget_devices();

  // join() has the streams of an empty line go on in another one; leave() has a stream go on alone
  // of which nothing is held, leave_all() all such.
  void join(WindowLine& joined, WindowLine& line);
  void leave(HeldStream& stream);
  void leave_all();

  // open() are the lines that hold launches, in no order; opened() and closed() keep it.
  const std::vector<WindowLine*>& open() const { return open_; }
  bool any_open_but(const WindowLine& line) const {
    return open_.size() > 1 || (open_.size() == 1 && open_.front() != &line);
  }
  void opened(WindowLine& line) { open_.push_back(&line); }
  void closed(WindowLine& line) { std::erase(open_, &line); }

 private:
  WindowLine& new_line();

  std::unordered_map<StreamKey, HeldStream, StreamKeyHash> streams_;
  std::deque<WindowLine> lines_;
  std::vector<WindowLine*>
      left_;  // lines without streams, some of whose windows may not have ended
  std::vector<WindowLine*> joined_;  // lines of several streams
  uint64_t counted_ = 0;
  bool has_default_ = false;  // a stream has the number 0
  std::vector<WindowLine*> open_;
  HeldStream* last_ = nullptr;
};

}  // namespace sluice::runtime
