// What CUDA orders: a vector clock for each stream, event and the host.
//
// An action (a launch, a copy) of a stream is ordered after all earlier actions of that stream,
// after what its stream was told to wait for, after what the host had seen done when it was issued,
// and, by the rules of the legacy default stream, after the other blocking streams. All host
// threads share one clock: how they order each other is not seen, so what one has seen done counts
// as seen by all. That may hide a race, and never invents one. Source: CUDA C++ Programming Guide,
// "Asynchronous Concurrent Execution"; CUDA Driver API, "Stream synchronization behavior".
#pragma once

#include <cstddef>
#include <cstdint>
#include <unordered_map>
#include <vector>

#include "runtime/races/ordering.hpp"

namespace sluice::runtime {

// ActionTime is one action: the `count`th of stream number `stream`.
struct ActionTime {
  size_t stream = 0;
  uint64_t count = 0;
};

// StreamClocks. The legacy default stream, of the context that first has one, is number 0, and
// CU_STREAM_PER_THREAD is one of the calling thread. Not thread-safe.
class StreamClocks {
 public:
  StreamClocks();

  // act() is the next action of a stream.
  ActionTime act(const StreamKey& stream);
  // is_ordered() says whether `action` comes before the action that act() returned last.
  bool is_ordered(const ActionTime& action) const;
  // has_several() is whether there is any stream beside the default one.
  bool has_several() const { return streams_.size() > 1; }
  // number_of() is a stream's number; others than that default one count from 1 in order of first
  // use.
  size_t number_of(const StreamKey& stream);

  // created() says which kind a stream is; one that nobody told of is blocking.
  void created(const StreamKey& stream, bool is_non_blocking);
  void destroyed(const StreamKey& stream);

  void event_recorded(void* event, const StreamKey& stream);
  void event_destroyed(void* event);
  void stream_waits(const StreamKey& stream, void* event);

  // The host has seen that all work before an event, in a stream or on the device is done.
  void event_done(void* event);
  void stream_done(const StreamKey& stream);
  void device_done();

  // moment_of() is all that comes before a host function that is put into `stream` now;
  // moment_done() says that it runs.
  VectorClock moment_of(const StreamKey& stream);
  void moment_done(const VectorClock& moment);

 private:
  struct Stream {
    const void* context = nullptr;
    VectorClock clock;
    bool is_blocking = true;
    uint64_t actions = 0;
  };
  static void join(VectorClock& clock, const VectorClock& other);
  Stream& enter(const StreamKey& stream);

  std::vector<Stream> streams_;  // by number; a destroyed one stays, its work may still run
  std::unordered_map<StreamKey, size_t, StreamKeyHash> numbers_;
  bool has_default_ = false;  // a stream has the number 0
  std::unordered_map<void*, VectorClock> events_;
  VectorClock host_;
  VectorClock now_;  // of the action that act() returned last
};

}  // namespace sluice::runtime
