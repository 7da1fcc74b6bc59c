// What is held back, stream by stream.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <unordered_map>
#include <vector>

#include "runtime/policy/policy.hpp"
#include "runtime/window.hpp"

namespace sluice::runtime {

// HeldStream is what is known of a stream by its handle.
struct HeldStream {
  uint64_t number = 0;      // in the journal
  LaunchWindow window;      // what is held back
  Policy::Sample sample;    // of its launches
  LaunchWindow::Room room;  // what the larger of its last two windows took
  LaunchWindow::Room last_room;
  size_t outstanding = 0;  // windows given to the device that have not ended
  // Launches in them. Each thread's own default stream, of which all have one handle, has its own.
  std::shared_ptr<size_t> launches = std::make_shared<size_t>(0);
};

// HeldStreams finds streams by their handles. A HeldStream stays where it is. Not thread-safe.
class HeldStreams {
 public:
  // find() numbers the streams: the legacy default stream is 0, by either of its handles; the
  // others count from 1 in the order in which they are first found.
  HeldStream& find(void* stream) {
    if (last_ != nullptr && last_stream_ == stream) return *last_;
    const auto [entry, is_new] = streams_.try_emplace(stream);
    const bool is_legacy = stream <= reinterpret_cast<void*>(1);  // null or CU_STREAM_LEGACY
    if (is_new && !is_legacy) entry->second.number = ++counted_;
    last_stream_ = stream;
    return *(last_ = &entry->second);
  }

  // open() are those that hold launches, in no order; opened() and closed() keep it.
  const std::vector<HeldStream*>& open() const { return open_; }
  bool any_open_but(const HeldStream& stream) const {
    return open_.size() > 1 || (open_.size() == 1 && open_.front() != &stream);
  }
  void opened(HeldStream& stream) { open_.push_back(&stream); }
  void closed(HeldStream& stream) { std::erase(open_, &stream); }

 private:
  std::unordered_map<void*, HeldStream> streams_;
  uint64_t counted_ = 0;
  std::vector<HeldStream*> open_;
  void* last_stream_ = nullptr;
  HeldStream* last_ = nullptr;
};

}  // namespace sluice::runtime
