#include "runtime/stream/held_streams.hpp"

#include <algorithm>
#include <utility>

#include "base/assert.hpp"

namespace sluice::runtime {

HeldStream* HeldStreams::known(const StreamKey& stream) {
  if (last_ != nullptr && last_->key == stream) return last_;
  const auto found = streams_.find(stream);
  return found == streams_.end() ? nullptr : last_ = &found->second;
}

HeldStream& HeldStreams::find(const StreamKey& stream) {
  if (HeldStream* const found = known(stream)) return *found;
  HeldStream& added = streams_[stream];
  added.key = stream;
  added.line = &new_line();
  added.line->streams = {&added};
  return *(last_ = &added);
}

uint64_t HeldStreams::number_of(HeldStream& stream) {
  if (std::exchange(stream.is_numbered, true)) return stream.number;
  const bool is_first_default = stream.key.is_legacy() && !std::exchange(has_default_, true);
  if (!is_first_default) stream.number = ++counted_;
  return stream.number;
}

void HeldStreams::forget_devices() {
  for (auto& [key, stream] : streams_)
    stream.device.reset();
}

WindowLine& HeldStreams::new_line() {
  const auto spare =
      std::ranges::find_if(left_, [](const WindowLine* line) { return line->outstanding == 0; });
  if (spare == left_.end()) return lines_.emplace_back();
  WindowLine& line = **spare;
  left_.erase(spare);
  return line;
}

void HeldStreams::join(WindowLine& joined, WindowLine& line) {
  SLUICE_ASSERT(&joined != &line && joined.window.empty());
  for (HeldStream* const stream : joined.streams) {
    stream->line = &line;
    line.streams.push_back(stream);
  }
  joined.streams.clear();
  left_.push_back(&joined);
  std::erase(joined_, &joined);
  if (std::ranges::find(joined_, &line) == joined_.end()) joined_.push_back(&line);
}

void HeldStreams::leave(HeldStream& stream) {
  WindowLine& line = *stream.line;
  if (!line.is_joined() || line.window.parts().has(stream.key)) return;
  stream.line = &new_line();
  stream.line->streams = {&stream};
  std::erase(line.streams, &stream);
  if (!line.is_joined()) std::erase(joined_, &line);
}

void HeldStreams::leave_all() {
  const std::vector<WindowLine*> joined = joined_;
  for (WindowLine* const line : joined) {
    const std::vector<HeldStream*> streams = line->streams;
    for (HeldStream* const stream : streams)
      leave(*stream);
  }
}

}  // namespace sluice::runtime
