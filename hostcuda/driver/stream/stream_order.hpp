// Which work may run now, of all queues.
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <vector>

#include "hostcuda/driver/stream/stream_queue.hpp"
#include "hostcuda/driver/stream/work.hpp"

namespace sluice::hostcuda {

// StreamOrder keeps the work of each queue in its order, and that of the legacy stream in order
// with the blocking ones. It runs nothing. All of it but legacy() and ready() is called under one
// lock, which is its engine's.
class StreamOrder {
 public:
  // The queue of the legacy default stream.
  const std::shared_ptr<StreamQueue>& legacy() const { return legacy_; }

  // order_before() adds to `after` what the legacy stream says of the queue's next work.
  void order_before(StreamQueue& queue, std::vector<Ticket>& after);

  // add() puts work at the end of a queue; it may begin after `after` as well.
  Ticket add(const std::shared_ptr<StreamQueue>& queue, SharedWork work, std::vector<Ticket> after);

  // promise() is the ticket of work that nobody runs and that is done by keep(), by work of
  // `kept_by`. It stands in a queue of its own, which holds nothing else.
  static Ticket promise(std::shared_ptr<const StreamQueue> kept_by);
  void keep(StreamQueue& promise);

  // room() is how many operations more the queue's stream takes, by its own account.
  static size_t room(const StreamQueue& queue) {
    return stream_operations - std::min(queue.taken_room_, stream_operations);
  }

  // hold() says that from now on work begins only where want() has asked for it.
  void hold() { holds_ = true; }
  void want(const Ticket& ticket);

  // take() is a queue whose first item may begin, nullptr where there is none: that with the most
  // urgent priority, and of those the first to become ready. Its item stays the first until
  // complete_first(), and the queue is not given out again before.
  StreamQueue* take();
  size_t ready() const { return ready_count_.load(); }

  // start_first() takes the work out of a queue that take() gave; complete_first() says that it is
  // done, and finds what may begin after it.
  static SharedWork start_first(StreamQueue& queue) { return std::move(queue.items_.front().work); }
  void complete_first(StreamQueue& queue);

  // complete_instantly() does work in a queue that has nothing left to do: false where it has.
  template <class Function>
  static bool complete_instantly(StreamQueue& queue, const Function& work) {
    if (!queue.items_.empty()) return false;
    const uint64_t number = queue.submitted_.load() + 1;
    queue.submitted_.store(number);
    work();
    queue.completed_.store(number);
    return true;
  }

  // ends_by_itself() is whether all work of these tickets ends whatever the host does.
  static bool ends_by_itself(const std::vector<Ticket>& tickets);

  // before() lists what work submitted to the queue now would wait for; outstanding() the last work
  // of each queue that is not empty.
  std::vector<Ticket> before(const std::shared_ptr<StreamQueue>& queue) const;
  std::vector<Ticket> outstanding() const;

 private:
  static constexpr size_t priorities = 1 + least_stream_priority - greatest_stream_priority;

  void make_ready_or_wait(StreamQueue& queue);
  void make_ready(StreamQueue& queue);
  void complete_next(StreamQueue& queue);

  const std::shared_ptr<StreamQueue> legacy_ = make_queue(QueueKind::legacy, least_stream_priority);
  std::vector<std::shared_ptr<StreamQueue>> busy_;  // queues that are not empty
  std::array<std::deque<StreamQueue*>, priorities> ready_;
  std::atomic<size_t> ready_count_{0};
  bool holds_ = false;
};

}  // namespace sluice::hostcuda
