#include "hostcuda/driver/stream/stream_order.hpp"

#include <algorithm>
#include <utility>

namespace sluice::hostcuda {

void StreamOrder::order_before(StreamQueue& queue, std::vector<Ticket>& after) {
  if (queue.kind_ == QueueKind::blocking) {
    const uint64_t last = legacy_->submitted_.load();
    if (std::exchange(queue.after_legacy_, last) != last && !legacy_->is_done(last)) {
      after.push_back({legacy_, last});
    }
  } else if (queue.kind_ == QueueKind::legacy) {
    for (const std::shared_ptr<StreamQueue>& other : busy_) {
      if (other->kind_ != QueueKind::blocking) continue;
      const uint64_t last = other->submitted_.load();
      if (std::exchange(other->before_legacy_, last) != last) after.push_back({other, last});
    }
  }
}

Ticket StreamOrder::add(const std::shared_ptr<StreamQueue>& queue, SharedWork work,
                        std::vector<Ticket> after) {
  const uint64_t number = queue->submitted_.load() + 1;
  const bool was_empty = queue->items_.empty();
  if (was_empty) busy_.push_back(queue);
  const bool takes_room = work->takes_room();
  if (work->may_wait_for_host() || !ends_by_itself(after)) queue->last_waiting_ = number;
  queue->items_.push_back({std::move(work), std::move(after), takes_room});
  if (takes_room) ++queue->taken_room_;
  queue->submitted_.store(number);
  if (was_empty) make_ready_or_wait(*queue);
  return {queue, number};
}

// The first item of a queue waits with its queue's entry in one other queue at a time.
void StreamOrder::make_ready_or_wait(StreamQueue& queue) {
  std::vector<Ticket>& after = queue.items_.front().after;
  while (!after.empty()) {
    const Ticket& ticket = after.back();
    if (!ticket.is_done()) {
      ticket.queue->waiters_.push_back({ticket.number, &queue});
      return;
    }
    after.pop_back();
  }
  queue.is_held_ = holds_ && queue.completed_.load() >= queue.wanted_;
  if (!queue.is_held_) make_ready(queue);
}

void StreamOrder::want(const Ticket& ticket) {
  StreamQueue& queue = *ticket.queue;
  queue.wanted_ = std::max(queue.wanted_, ticket.number);
  if (!queue.is_held_ || queue.completed_.load() >= queue.wanted_) return;
  queue.is_held_ = false;
  make_ready(queue);
}

void StreamOrder::make_ready(StreamQueue& queue) {
  ready_[static_cast<size_t>(queue.priority_ - greatest_stream_priority)].push_back(&queue);
  ready_count_.fetch_add(1);
}

StreamQueue* StreamOrder::take() {
  for (std::deque<StreamQueue*>& level : ready_) {
    if (level.empty()) continue;
    StreamQueue* queue = level.front();
    level.pop_front();
    ready_count_.fetch_sub(1);
    return queue;
  }
  return nullptr;
}

// complete_next() counts one more as done, and finds what may begin after it in other queues.
void StreamOrder::complete_next(StreamQueue& queue) {
  queue.completed_.fetch_add(1);
  const uint64_t completed = queue.completed_.load();
  std::vector<StreamQueue*> released;
  std::erase_if(queue.waiters_, [&](const StreamQueue::Waiter& waiter) {
    if (waiter.number > completed) return false;
    released.push_back(waiter.queue);
    return true;
  });
  for (StreamQueue* waiter : released)
    make_ready_or_wait(*waiter);
}

Ticket StreamOrder::promise(std::shared_ptr<const StreamQueue> kept_by) {
  Ticket ticket{make_queue(QueueKind::non_blocking, least_stream_priority), 1};
  ticket.queue->kept_by_ = std::move(kept_by);
  ticket.queue->submitted_.store(1);
  return ticket;
}

bool StreamOrder::ends_by_itself(const std::vector<Ticket>& tickets) {
  return std::ranges::all_of(tickets, [](const Ticket& ticket) {
    if (ticket.is_done()) return true;
    const StreamQueue* queue = ticket.queue.get();
    if (queue->kept_by_ != nullptr) queue = queue->kept_by_.get();
    return queue->is_done(queue->last_waiting_);
  });
}

void StreamOrder::keep(StreamQueue& promise) {
  complete_next(promise);
}

void StreamOrder::complete_first(StreamQueue& queue) {
  if (queue.items_.front().takes_room) --queue.taken_room_;
  queue.items_.pop_front();
  complete_next(queue);
  if (!queue.items_.empty()) return make_ready_or_wait(queue);
  const auto place = std::find_if(busy_.begin(), busy_.end(),
                                  [&](const auto& entry) { return entry.get() == &queue; });
  // This may have been the last to hold the queue.
  std::swap(*place, busy_.back());
  busy_.pop_back();
}

std::vector<Ticket> StreamOrder::before(const std::shared_ptr<StreamQueue>& queue) const {
  std::vector<Ticket> tickets{last_of(queue)};
  for (const std::shared_ptr<StreamQueue>& other : busy_) {
    const bool ordered = queue->kind_ == QueueKind::legacy
                             ? other->kind_ == QueueKind::blocking
                             : queue->kind_ == QueueKind::blocking && other == legacy_;
    if (ordered) tickets.push_back(last_of(other));
  }
  return tickets;
}

std::vector<Ticket> StreamOrder::outstanding() const {
  std::vector<Ticket> tickets;
  for (const std::shared_ptr<StreamQueue>& queue : busy_)
    tickets.push_back(last_of(queue));
  return tickets;
}

}  // namespace sluice::hostcuda
