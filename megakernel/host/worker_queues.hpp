// Tickets of a window: the next for a worker, and those that another worker left lying.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>

#include "schedule/plan.hpp"

namespace sluice::megakernel {

// WorkerQueues hand out each ticket of a window once. A worker gets those of its own queue first,
// in their order, and those of other queues when its own is at its end. Thread-safe but for open().
class WorkerQueues {
 public:
  static constexpr uint32_t no_ticket = UINT32_MAX;

  // open() starts a window for so many workers, while none is in one. A single worker takes tickets
  // in their order, whatever the queues: nobody else would run what it waits for. Throws
  // std::bad_alloc.
  void open(const schedule::Plan& plan, uint32_t workers) {
    const bool one_queue = workers == 1 || plan.queue_ends.empty();
    tickets_ = one_queue ? nullptr : plan.queue_tickets.data();
    count_ = tickets_ == nullptr ? 1 : static_cast<uint32_t>(plan.queue_ends.size());
    if (count_ > capacity_) {
      queues_ = std::make_unique<Queue[]>(count_);
      capacity_ = count_;
    }
    uint32_t begin = 0;
    for (uint32_t i = 0; i < count_; ++i) {
      const uint32_t end =
          tickets_ == nullptr ? static_cast<uint32_t>(plan.tasks.size()) : plan.queue_ends[i];
      queues_[i].next.store(begin, std::memory_order_relaxed);
      queues_[i].left_at.store(end, std::memory_order_relaxed);
      queues_[i].end = end;
      begin = end;
    }
  }

  // take() is no_ticket when all have been taken.
  uint32_t take(uint32_t worker) {
    for (uint32_t i = 0; i < count_; ++i) {
      Queue& queue = queues_[(worker + i) % count_];
      if (queue.next.load(std::memory_order_relaxed) >= queue.end) continue;
      const uint32_t place = queue.next.fetch_add(1, std::memory_order_relaxed);
      if (place < queue.end) return ticket_at(place);
    }
    return no_ticket;
  }

  // take_first() takes the smallest ticket left, for a worker that nobody helps any more; no_ticket
  // when all have been taken.
  uint32_t take_first() {
    for (;;) {
      Queue* first = nullptr;
      uint32_t place = 0;
      uint32_t ticket = no_ticket;
      for (uint32_t i = 0; i < count_; ++i) {
        const uint32_t next = queues_[i].next.load(std::memory_order_relaxed);
        if (next >= queues_[i].end || ticket_at(next) >= ticket) continue;
        first = &queues_[i];
        place = next;
        ticket = ticket_at(next);
      }
      if (first == nullptr) return no_ticket;
      if (first->next.compare_exchange_weak(place, place + 1, std::memory_order_relaxed))
        return ticket;
    }
  }

  // take_before() takes a ticket smaller than `ticket`; no_ticket where a worker has each of them.
  // Since masters have smaller tickets than their slaves, a worker that holds `ticket` and waits is
  // then waited for by nobody whom it waits for.
  uint32_t take_before(uint32_t ticket) {
    for (uint32_t i = 0; i < count_; ++i) {
      Queue& queue = queues_[i];
      uint32_t place = queue.next.load(std::memory_order_relaxed);
      while (place < queue.end && ticket_at(place) < ticket) {
        if (!queue.next.compare_exchange_weak(place, place + 1, std::memory_order_relaxed))
          continue;
        queue.left_at.store(place + 1, std::memory_order_relaxed);
        return ticket_at(place);
      }
    }
    return no_ticket;
  }

  // is_left() holds where a ticket smaller than `ticket` lies in a queue whose own worker will not
  // come to it soon: take_before() took the last one there, and the worker, that may have lost its
  // processor, has taken none since; or it is behind by more than a few tickets.
  bool is_left(uint32_t ticket) const {
    for (uint32_t i = 0; i < count_; ++i) {
      const Queue& queue = queues_[i];
      const uint32_t place = queue.next.load(std::memory_order_relaxed);
      if (place >= queue.end || ticket_at(place) >= ticket) continue;
      if (place == queue.left_at.load(std::memory_order_relaxed)) return true;
      if (few_tickets < queue.end - place && ticket_at(place + few_tickets) < ticket) return true;
    }
    return false;
  }

 private:
  static constexpr uint32_t few_tickets = 8;

  struct alignas(64) Queue {
    std::atomic<uint32_t> next{0};     // place in queue_tickets
    std::atomic<uint32_t> left_at{0};  // behind what take_before() took last; end: nothing yet
    uint32_t end = 0;
  };

  uint32_t ticket_at(uint32_t place) const { return tickets_ == nullptr ? place : tickets_[place]; }

  const uint32_t* tickets_ = nullptr;  // null: one queue, in which places are tickets
  uint32_t count_ = 0;
  uint32_t capacity_ = 0;
  std::unique_ptr<Queue[]> queues_;
};

}  // namespace sluice::megakernel
