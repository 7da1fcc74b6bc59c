// What a launch really touches, where its footprint does not say all of it exactly.
#pragma once

#include <atomic>
#include <memory>
#include <optional>
#include <utility>

#include "relation/byte_intervals.hpp"
#include "runtime/device.hpp"
#include "runtime/launch/understood.hpp"

namespace sluice::runtime {

// TouchedBytes are addresses. Atomic and volatile accesses stand apart.
struct TouchedBytes {
  ByteIntervals reads, writes, atomics;
};

// TracedBytes is those of one launch, once it has run. give() and give_up() are called once, by
// whatever thread; the rest is thread-safe.
class TracedBytes {
 public:
  void give(TouchedBytes touched) {
    touched_ = std::move(touched);
    state_.store(State::there, std::memory_order_release);
  }
  void give_up() { state_.store(State::never, std::memory_order_release); }

  bool is_to_come() const { return state_.load(std::memory_order_acquire) == State::to_come; }
  // get() is null where they are not there.
  const TouchedBytes* get() const {
    return state_.load(std::memory_order_acquire) == State::there ? &touched_ : nullptr;
  }

 private:
  enum class State { to_come, there, never };
  std::atomic<State> state_{State::to_come};
  TouchedBytes touched_;
};

// run_traced() gives the launch to its stream as a function that runs its blocks one by one and
// tells `traced` what they touch. Nothing where the device has no such code for it: then nothing
// was given.
std::optional<int> run_traced(Device& device, const Known& launch,
                              const std::shared_ptr<TracedBytes>& traced);

}  // namespace sluice::runtime
