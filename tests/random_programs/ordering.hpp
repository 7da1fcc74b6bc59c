// Which calls of a program are ordered by the rules of CUDA: vector clocks over streams, events and
// the host.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "random_programs/program.hpp"

namespace sluice::random_programs {

// Clock says how many works of each stream come before a moment.
using Clock = std::array<uint32_t, stream_count>;

// Work is one piece of work of a stream: its place there, counted from 1.
struct Work {
  Stream stream = legacy;
  uint32_t place = 0;
};

// Ordering follows the calls of one program. It promises no order that CUDA does not: where the
// rules leave a doubt the answer is "not ordered".
class Ordering {
 public:
  // next() is the moment at which work put on the stream now would begin.
  Clock next(Stream stream) const;
  // add() puts work on the stream.
  Work add(Stream stream);
  static bool before(const Work& work, const Clock& moment) {
    return moment[work.stream] >= work.place;
  }

  void record(uint8_t event, Stream stream) { events_[event] = own_[stream]; }
  void wait(Stream stream, uint8_t event) { join(pending_[stream], events_[event]); }
  void host_waits_for_event(uint8_t event) { join(host_, events_[event]); }
  void host_waits_for_stream(Stream stream) { join(host_, own_[stream]); }
  void host_waits_for_all();
  // host_knows() says that all work before the moment is done.
  void host_knows(const Clock& moment) { join(host_, moment); }
  const Clock& host() const { return host_; }

 private:
  static void join(Clock& clock, const Clock& other);

  std::array<Clock, stream_count> own_ = {};      // after the last work of each
  std::array<Clock, stream_count> pending_ = {};  // events that its next work waits for
  std::array<uint32_t, stream_count> counts_ = {};
  std::array<Clock, event_count> events_ = {};
  Clock host_ = {};
};

}  // namespace sluice::random_programs
