#include "runtime/races/stream_clocks.hpp"

#include <algorithm>
#include <utility>

namespace sluice::runtime {
namespace {

// key_of() tells the default streams of threads apart by an address that each thread has for
// itself.
StreamKey key_of(const StreamKey& stream) {
  static thread_local char own = 0;
  return stream.is_per_thread() ? StreamKey{stream.context, &own} : stream;
}

}  // namespace

StreamClocks::StreamClocks() : streams_(1) {}

void StreamClocks::join(VectorClock& clock, const VectorClock& other) {
  if (clock.size() < other.size()) clock.resize(other.size());
  for (size_t i = 0; i < other.size(); ++i)
    clock[i] = std::max(clock[i], other[i]);
}

size_t StreamClocks::number_of(const StreamKey& stream) {
  const auto [entry, is_new] = numbers_.try_emplace(key_of(stream), streams_.size());
  if (!is_new) return entry->second;
  if (stream.is_legacy() && !std::exchange(has_default_, true)) {
    entry->second = 0;
  } else {
    streams_.emplace_back();
  }
  streams_[entry->second].context = stream.context;
  return entry->second;
}

// enter() brings a stream's clock up to what its next work comes after.
StreamClocks::Stream& StreamClocks::enter(const StreamKey& stream) {
  const size_t number = number_of(stream);
  Stream& entered = streams_[number];
  join(entered.clock, host_);
  if (stream.is_legacy()) {
    for (const Stream& other : streams_) {
      if (other.is_blocking && other.context == stream.context) join(entered.clock, other.clock);
    }
  } else if (entered.is_blocking) {
    const auto legacy = numbers_.find({stream.context, nullptr});
    if (legacy != numbers_.end()) join(entered.clock, streams_[legacy->second].clock);
  }
  return entered;
}

ActionTime StreamClocks::act(const StreamKey& stream) {
  const size_t number = number_of(stream);
  Stream& entered = enter(stream);
  now_ = entered.clock;
  if (entered.clock.size() <= number) entered.clock.resize(number + 1);
  entered.clock[number] = ++entered.actions;
  return {number, entered.actions};
}

bool StreamClocks::is_ordered(const ActionTime& action) const {
  return action.stream < now_.size() && now_[action.stream] >= action.count;
}

void StreamClocks::created(const StreamKey& stream, bool is_non_blocking) {
  numbers_.erase(key_of(stream));  // the handle of one that was destroyed unseen
  streams_[number_of(stream)].is_blocking = !is_non_blocking;
}

void StreamClocks::destroyed(const StreamKey& stream) {
  if (!stream.is_legacy()) numbers_.erase(key_of(stream));
}

void StreamClocks::event_recorded(void* event, const StreamKey& stream) {
  events_[event] = enter(stream).clock;
}

void StreamClocks::event_destroyed(void* event) {
  events_.erase(event);
}

void StreamClocks::stream_waits(const StreamKey& stream, void* event) {
  Stream& entered = enter(stream);
  const auto recorded = events_.find(event);
  if (recorded != events_.end()) join(entered.clock, recorded->second);
}

void StreamClocks::event_done(void* event) {
  const auto recorded = events_.find(event);
  if (recorded != events_.end()) join(host_, recorded->second);
}

void StreamClocks::stream_done(const StreamKey& stream) {
  join(host_, enter(stream).clock);
}

void StreamClocks::device_done() {
  for (const Stream& stream : streams_)
    join(host_, stream.clock);
}

VectorClock StreamClocks::moment_of(const StreamKey& stream) {
  return enter(stream).clock;
}

void StreamClocks::moment_done(const VectorClock& moment) {
  join(host_, moment);
}

}  // namespace sluice::runtime
