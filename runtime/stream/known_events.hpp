// Where the program's events were recorded last.
#pragma once

#include <cstddef>
#include <cstdint>
#include <unordered_map>

#include "runtime/stream/held_streams.hpp"

namespace sluice::runtime {

// KnownEvent is the last record of an event.
struct KnownEvent {
  HeldStream* stream = nullptr;
  // In a window that held launches back then: its line, its first launch, and the place there.
  // Null: the driver recorded it.
  WindowLine* line = nullptr;
  dro::LaunchNumber window = 0;
  uint32_t place = 0;

  bool is_held() const {
    return line != nullptr && !line->window.empty() && line->window.first() == window;
  }
};

// KnownEvents forgets all rather than grow with a program's events: what it does not know is the
// driver's to answer. Not thread-safe.
class KnownEvents {
 public:
  void note(const void* event, const KnownEvent& known) {
    if (events_.size() >= most) events_.clear();
    events_[event] = known;
  }
  const KnownEvent* find(const void* event) const {
    const auto found = events_.find(event);
    return found == events_.end() ? nullptr : &found->second;
  }
  void clear() { events_.clear(); }

 private:
  static constexpr size_t most = 4096;
  std::unordered_map<const void*, KnownEvent> events_;
};

}  // namespace sluice::runtime
