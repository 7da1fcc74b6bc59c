#include "runtime/races/stream_clocks.hpp"

#include <algorithm>

#include "runtime/stream/default_streams.hpp"

namespace sluice::runtime {
namespace {

// key_of() tells the default streams of threads apart by an address that each thread has for
// itself.
void* key_of(void* stream) {
  static thread_local char own = 0;
  if (stream == legacy_stream) return nullptr;
  return stream == per_thread_stream ? &own : stream;
}

}  // namespace

StreamClocks::StreamClocks() : streams_(1), numbers_{{nullptr, 0}} {}

void StreamClocks::join(VectorClock& clock, const VectorClock& other) {
  if (clock.size() < other.size()) clock.resize(other.size());
  for (size_t i = 0; i < other.size(); ++i)
    clock[i] = std::max(clock[i], other[i]);
}

size_t StreamClocks::number_of(void* stream) {
  const auto [entry, is_new] = numbers_.try_emplace(key_of(stream), streams_.size());
  if (is_new) streams_.emplace_back();
  return entry->second;
}

// enter() brings a stream's clock up to what its next work comes after.
StreamClocks::Stream& StreamClocks::enter(void* stream) {
  const size_t number = number_of(stream);
  Stream& entered = streams_[number];
  join(entered.clock, host_);
  if (number == 0) {
    for (const Stream& other : streams_) {
      if (other.is_blocking) join(entered.clock, other.clock);
    }
  } else if (entered.is_blocking) {
    join(entered.clock, streams_[0].clock);
  }
  return entered;
}

ActionTime StreamClocks::act(void* stream) {
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

void StreamClocks::created(void* stream, bool is_non_blocking) {
  numbers_.erase(key_of(stream));  // the handle of one that was destroyed unseen
  streams_[number_of(stream)].is_blocking = !is_non_blocking;
}

void StreamClocks::destroyed(void* stream) {
  if (key_of(stream) != nullptr) numbers_.erase(key_of(stream));
}

void StreamClocks::event_recorded(void* event, void* stream) {
  events_[event] = enter(stream).clock;
}

void StreamClocks::event_destroyed(void* event) {
  events_.erase(event);
}

void StreamClocks::stream_waits(void* stream, void* event) {
  Stream& entered = enter(stream);
  const auto recorded = events_.find(event);
  if (recorded != events_.end()) join(entered.clock, recorded->second);
}

void StreamClocks::event_done(void* event) {
  const auto recorded = events_.find(event);
  if (recorded != events_.end()) join(host_, recorded->second);
}

void StreamClocks::stream_done(void* stream) {
  join(host_, enter(stream).clock);
}

void StreamClocks::device_done() {
  for (const Stream& stream : streams_)
    join(host_, stream.clock);
}

VectorClock StreamClocks::moment_of(void* stream) {
  return enter(stream).clock;
}

void StreamClocks::moment_done(const VectorClock& moment) {
  join(host_, moment);
}

}  // namespace sluice::runtime
