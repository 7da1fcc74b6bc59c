// Streams and events. All streams feed the one queue of the device, so a stream is little more
// than the ticket of the last work that it has, or waits for.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>

#include "hostcuda/driver/cuda_api.hpp"

namespace sluice::hostcuda {

class Context;

struct Stream {
  Context* context = nullptr;
  unsigned flags = 0;
  int priority = 0;
  unsigned long long id = 0;
  std::atomic<uint64_t> last_ticket{0};  // 0: nothing was submitted yet

  // raise_ticket() notes that the stream has, or waits for, work of that ticket; tickets may come
  // out of order.
  void raise_ticket(uint64_t ticket) {
    uint64_t seen = last_ticket.load();
    while (seen < ticket && !last_ticket.compare_exchange_weak(seen, ticket)) {
    }
  }
};

// The range of priorities: all are accepted, none makes a difference.
constexpr int least_stream_priority = 0;
constexpr int greatest_stream_priority = -5;

struct Event {
  using Clock = std::chrono::steady_clock;

  Context* context = nullptr;
  unsigned flags = 0;
  std::atomic<uint64_t> ticket{0};  // of the last record, 0: never recorded
  std::atomic<Clock::rep> time{0};  // when the last record was reached
};

}  // namespace sluice::hostcuda
