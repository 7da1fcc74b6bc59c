// What is held back, stream by stream.
#pragma once

#include <algorithm>
#include <cstddef>
#include <unordered_map>
#include <vector>

#include "runtime/window.hpp"

namespace sluice::runtime {

// HeldStream is what is known of a stream by its handle.
struct HeldStream {
  uint64_t number = 0;      // in the journal
  LaunchWindow window;      // what is held back
  LaunchWindow::Room room;  // what the larger of its last two windows took
  LaunchWindow::Room last_room;
  size_t outstanding = 0;  // windows given to the device that have not ended
};

// HeldStreams finds streams by their handles. A HeldStream stays where it is. Not thread-safe.
class HeldStreams {
 public:
  // find() also says whether the handle is seen for the first time.
  HeldStream& find(void* stream, bool& is_new) {
    is_new = false;
    if (last_ != nullptr && last_stream_ == stream) return *last_;
    const auto [entry, added] = streams_.try_emplace(stream);
    is_new = added;
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
  std::vector<HeldStream*> open_;
  void* last_stream_ = nullptr;
  HeldStream* last_ = nullptr;
};

// is_default_stream() holds for the legacy default stream, by either of its handles, which is
// ordered with all blocking streams, and for CU_STREAM_PER_THREAD, which names another stream in
// each thread.
inline bool is_default_stream(const void* stream) {
  return stream <= reinterpret_cast<const void*>(2);
}

}  // namespace sluice::runtime
