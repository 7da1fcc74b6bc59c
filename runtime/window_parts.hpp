// What each stream of a window has in it, and the events that were recorded among its launches.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "megakernel/stream_key.hpp"

namespace sluice::runtime {

// HeldEvent is one that was recorded, in one of the streams, after so many launches of a window: it
// comes after those of them that are of its stream, and after the earlier events `after`, by their
// places. Or it is the end of what the stream has in the window.
struct HeldEvent {
  void* event = nullptr;  // null: an end
  uint32_t launches = 0;
  uint32_t part = 0;
  std::vector<uint32_t> after;
  std::shared_ptr<void> promise;  // reached when this is gone
};

// WindowPart is what a stream has in a window.
struct WindowPart {
  StreamKey stream;
  std::shared_ptr<size_t> outstanding;  // launches of the stream with the device, to be counted in
  uint32_t launches = 0;
  std::vector<uint32_t> after;  // events that its next one comes after
};

// WindowParts are the streams that take part in a window, by the order in which of() was first
// asked for them, and the events. Not thread-safe.
class WindowParts {
 public:
  std::span<const WindowPart> all() const { return parts_; }
  bool has(const StreamKey& stream) const {
    return std::ranges::find(parts_, stream, &WindowPart::stream) != parts_.end();
  }
  WindowPart& of(const StreamKey& stream);
  uint32_t place_of(const WindowPart& part) const {
    return static_cast<uint32_t>(&part - parts_.data());
  }
  std::vector<StreamKey> streams() const;
  StreamKey first() const { return parts_.empty() ? StreamKey() : parts_.front().stream; }

  // line() is the device's (Device::make_line), which orders the window with each of the streams;
  // null: there is one stream, which does.
  void* line() const { return line_; }
  void set_line(void* line) { line_ = line; }

  // events() are in the order of their records. record() adds one behind so many launches of the
  // window; wait() has what comes next in a stream come after the event at that place.
  std::vector<HeldEvent>& events() { return events_; }
  const std::vector<HeldEvent>& events() const { return events_; }
  bool has_event(const void* event) const {
    return std::ranges::find(events_, event, &HeldEvent::event) != events_.end();
  }
  void record(void* event, const StreamKey& stream, size_t launches, std::shared_ptr<void> promise);
  void wait(const StreamKey& stream, uint32_t place);

  // end() closes a window of so many launches that has a line: behind them each part has an end,
  // whose promises keep_ends() takes when the device has made them.
  void end(size_t launches);
  void keep_ends(std::vector<std::shared_ptr<void>> promises);

 private:
  void* line_ = nullptr;
  std::vector<WindowPart> parts_;
  std::vector<HeldEvent> events_;
};

}  // namespace sluice::runtime
