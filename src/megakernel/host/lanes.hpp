// Tickets of a window: the next for a worker, and those that another worker left lying.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>

#include "megakernel/layout.hpp"

namespace sluice::megakernel {

// Lanes hand out each ticket of a window once. A worker gets those of its own lane first, in their
// order, and those of other lanes when its own is at its end. Thread-safe but for open().
class Lanes {
 public:
  static constexpr uint32_t no_ticket = UINT32_MAX;

  // open() starts a window for so many workers, while none is in one. A single worker takes tickets
  // in their order, whatever the lanes: nobody else would run what it waits for. Throws
  // std::bad_alloc.
  void open(const Window& window, uint32_t workers) {
    const bool one_lane = workers == 1 || window.lane_ends.empty();
    tickets_ = one_lane ? nullptr : window.lane_tasks.data();
    count_ = tickets_ == nullptr ? 1 : static_cast<uint32_t>(window.lane_ends.size());
    if (count_ > capacity_) {
      lanes_ = std::make_unique<Lane[]>(count_);
      capacity_ = count_;
    }
    uint32_t begin = 0;
    for (uint32_t i = 0; i < count_; ++i) {
      const uint32_t end =
          tickets_ == nullptr ? static_cast<uint32_t>(window.tasks.size()) : window.lane_ends[i];
      lanes_[i].next.store(begin, std::memory_order_relaxed);
      lanes_[i].left_at.store(end, std::memory_order_relaxed);
      lanes_[i].end = end;
      begin = end;
    }
  }

  // take() is no_ticket when all have been taken.
  uint32_t take(uint32_t worker) {
    for (uint32_t i = 0; i < count_; ++i) {
      Lane& lane = lanes_[(worker + i) % count_];
      if (lane.next.load(std::memory_order_relaxed) >= lane.end) continue;
      const uint32_t place = lane.next.fetch_add(1, std::memory_order_relaxed);
      if (place < lane.end) return ticket_at(place);
    }
    return no_ticket;
  }

  // take_first() takes the smallest ticket left, for a worker that nobody helps any more; no_ticket
  // when all have been taken.
  uint32_t take_first() {
    for (;;) {
      Lane* first = nullptr;
      uint32_t place = 0;
      uint32_t ticket = no_ticket;
      for (uint32_t i = 0; i < count_; ++i) {
        const uint32_t next = lanes_[i].next.load(std::memory_order_relaxed);
        if (next >= lanes_[i].end || ticket_at(next) >= ticket) continue;
        first = &lanes_[i];
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
      Lane& lane = lanes_[i];
      uint32_t place = lane.next.load(std::memory_order_relaxed);
      while (place < lane.end && ticket_at(place) < ticket) {
        if (!lane.next.compare_exchange_weak(place, place + 1, std::memory_order_relaxed)) continue;
        lane.left_at.store(place + 1, std::memory_order_relaxed);
        return ticket_at(place);
      }
    }
    return no_ticket;
  }

  // is_left() holds where a ticket smaller than `ticket` lies in a lane whose own worker will not
  // come to it soon: take_before() took the last one there, and the worker, that may have lost its
  // processor, has taken none since; or it is behind by more than a few tickets.
  bool is_left(uint32_t ticket) const {
    for (uint32_t i = 0; i < count_; ++i) {
      const Lane& lane = lanes_[i];
      const uint32_t place = lane.next.load(std::memory_order_relaxed);
      if (place >= lane.end || ticket_at(place) >= ticket) continue;
      if (place == lane.left_at.load(std::memory_order_relaxed)) return true;
      if (few_tickets < lane.end - place && ticket_at(place + few_tickets) < ticket) return true;
    }
    return false;
  }

 private:
  static constexpr uint32_t few_tickets = 8;

  struct alignas(64) Lane {
    std::atomic<uint32_t> next{0};     // place in lane_tasks
    std::atomic<uint32_t> left_at{0};  // behind what take_before() took last; end: nothing yet
    uint32_t end = 0;
  };

  uint32_t ticket_at(uint32_t place) const { return tickets_ == nullptr ? place : tickets_[place]; }

  const uint32_t* tickets_ = nullptr;  // null: one lane, in which places are tickets
  uint32_t count_ = 0;
  uint32_t capacity_ = 0;
  std::unique_ptr<Lane[]> lanes_;
};

}  // namespace sluice::megakernel
