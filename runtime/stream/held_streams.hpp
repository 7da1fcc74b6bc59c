// What is held back, stream by stream.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <unordered_map>
#include <vector>

#include "runtime/policy/policy.hpp"
#include "runtime/window.hpp"

namespace sluice::runtime {

struct WindowLine;

// HeldStream is what is known of a stream by its handle.
struct HeldStream {
  void* handle = nullptr;
  uint64_t number = 0;  // in the journal; is_numbered: it has one
  bool is_numbered = false;
  WindowLine* line = nullptr;  // of the windows that its launches go to
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
  size_t outstanding = 0;     // windows given to the device that have not ended
  void* in_device = nullptr;  // Device::make_line(), where it was ever of several streams

  bool is_joined() const { return streams.size() > 1; }
};

// HeldStreams finds streams by their handles, and their lines. Both stay where they are. Not
// thread-safe.
class HeldStreams {
 public:
  // find() is a stream, on its first call of a line of its own; known() is null before.
  HeldStream& find(void* stream);
  HeldStream* known(void* stream);
  // number_of() numbers the streams: the legacy default stream is 0, by either of its handles; the
  // others count from 1 in the order in which they are first asked for.
  uint64_t number_of(HeldStream& stream);

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

  std::unordered_map<void*, HeldStream> streams_;
  std::deque<WindowLine> lines_;
  std::vector<WindowLine*>
      left_;  // lines without streams, some of whose windows may not have ended
  std::vector<WindowLine*> joined_;  // lines of several streams
  uint64_t counted_ = 0;
  std::vector<WindowLine*> open_;
  HeldStream* last_ = nullptr;
};

}  // namespace sluice::runtime
