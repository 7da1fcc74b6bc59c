// Streams and events.
#pragma once

#include <atomic>
#include <chrono>
#include <memory>
#include <mutex>
#include <utility>

#include "hostcuda/driver/device/cuda_api.hpp"
#include "hostcuda/driver/stream/stream_queue.hpp"

namespace sluice::hostcuda {

class Context;
class StreamCapture;
struct CapturedPlace;

// Stream is what a CUstream stands for, the default streams included.
struct Stream {
  Context* context = nullptr;  // nullptr: a default stream, which every context has
  unsigned flags = 0;
  int priority = 0;
  unsigned long long id = 0;
  std::shared_ptr<StreamQueue> queue;
  // The capture that the stream takes part in. Changed under the lock of all captures.
  std::shared_ptr<StreamCapture> capture;
  std::atomic<bool> is_captured{false};  // whether `capture` is set
};

using StreamRef = std::shared_ptr<Stream>;

// Event is thread-safe.
class Event {
 public:
  using Clock = std::chrono::steady_clock;

  Event(Context* context, unsigned flags) : context_(context), flags_(flags) {}

  const Context* context() const { return context_; }
  bool has_timing() const { return (flags_ & CU_EVENT_DISABLE_TIMING) == 0; }

  // The ticket of the last record, one without a queue where there was none.
  Ticket ticket() const {
    const std::lock_guard lock(mutex_);
    return ticket_;
  }
  void set_ticket(Ticket ticket) {
    const std::lock_guard lock(mutex_);
    ticket_ = std::move(ticket);
    captured_.reset();
  }

  // The place in a graph that the last record stands for, where a captured stream recorded it.
  std::shared_ptr<const CapturedPlace> captured() const {
    const std::lock_guard lock(mutex_);
    return captured_;
  }
  void set_captured(std::shared_ptr<const CapturedPlace> place) {
    const std::lock_guard lock(mutex_);
    captured_ = std::move(place);
  }

  // When the last record was reached.
  Clock::duration time() const { return Clock::duration(time_.load()); }
  void reach() { time_.store(Clock::now().time_since_epoch().count()); }

 private:
  Context* const context_;
  const unsigned flags_;
  mutable std::mutex mutex_;
  Ticket ticket_;  // guarded by mutex_, as captured_
  std::shared_ptr<const CapturedPlace> captured_;
  std::atomic<Clock::rep> time_{0};
};

// DefaultStreamScope makes a stream handle of 0 mean the calling thread's own default stream, as in
// functions of the per-thread form, for as long as it lives.
class DefaultStreamScope {
 public:
  DefaultStreamScope();
  ~DefaultStreamScope();
  DefaultStreamScope(const DefaultStreamScope&) = delete;
  static bool is_per_thread();

 private:
  const bool before_;
};

// The default stream of the calling thread, made at its first use.
StreamRef stream_of_this_thread();

}  // namespace sluice::hostcuda
