// The work of one stream, in its order.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <vector>

#include "hostcuda/driver/stream/work.hpp"

namespace sluice::hostcuda {

// How a queue orders with the legacy default stream: work of the legacy stream begins when all
// earlier work of every blocking stream is done, and work of a blocking stream when all earlier
// work of the legacy stream is. Non-blocking streams order with neither.
enum class QueueKind { legacy, blocking, non_blocking };

// The range of priorities: a stream of a smaller number is served first.
constexpr int least_stream_priority = 0;
constexpr int greatest_stream_priority = -5;

// stream_operations is how many operations a stream takes before a call that submits another one
// waits, as NVIDIA's driver does.
constexpr size_t stream_operations = 1024;

// StreamQueue belongs to the StreamOrder of its engine, which alone changes it, under its lock.
class StreamQueue {
 public:
  StreamQueue(QueueKind kind, int priority) : kind_(kind), priority_(priority) {}
  StreamQueue(const StreamQueue&) = delete;

  QueueKind kind() const { return kind_; }
  bool is_done(uint64_t number) const { return completed_.load() >= number; }
  // submitted() is the number of the work submitted last, 0 where there was none.
  uint64_t submitted() const { return submitted_.load(); }
  bool is_idle() const { return is_done(submitted()); }

 private:
  friend class StreamOrder;
  struct Item {
    SharedWork work;
    std::vector<Ticket> after;  // of other queues; met ones are dropped from its end
    bool takes_room;
  };
  struct Waiter {
    uint64_t number;
    StreamQueue* queue;  // whose first item waits for that number of this queue
  };

  const QueueKind kind_;
  const int priority_;
  std::atomic<uint64_t> submitted_{0};
  std::atomic<uint64_t> completed_{0};
  std::deque<Item> items_;  // the first one may be running
  size_t taken_room_ = 0;   // by how many of them
  // Where work is held (StreamOrder::hold()): the last number that may begin, and whether the first
  // item would begin if it might.
  uint64_t wanted_ = 0;
  bool is_held_ = false;
  std::vector<Waiter> waiters_;
  // The last work that may wait for the host, or stands behind such work; of a promise, that of the
  // queue whose work keeps it.
  uint64_t last_waiting_ = 0;
  std::shared_ptr<const StreamQueue> kept_by_;
  // The number of the other side's work that this queue is ordered after already, by an earlier
  // item: of the legacy queue's in a blocking queue; in it, what the legacy queue is ordered after.
  uint64_t after_legacy_ = 0;
  uint64_t before_legacy_ = 0;
};

// make_queue() is an empty queue; a priority out of range becomes the nearest that there is.
inline std::shared_ptr<StreamQueue> make_queue(QueueKind kind, int priority) {
  return std::make_shared<StreamQueue>(
      kind, std::clamp(priority, greatest_stream_priority, least_stream_priority));
}

inline bool Ticket::is_done() const {
  return queue == nullptr || queue->is_done(number);
}

inline bool all_done(const std::vector<Ticket>& tickets) {
  return std::all_of(tickets.begin(), tickets.end(), [](const Ticket& t) { return t.is_done(); });
}

// last_of() is the ticket of all work that the queue has so far.
inline Ticket last_of(const std::shared_ptr<StreamQueue>& queue) {
  return {queue, queue->submitted()};
}

}  // namespace sluice::hostcuda
