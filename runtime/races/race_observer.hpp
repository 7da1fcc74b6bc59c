// The runtime's launches, and what the shim tells of other calls, under a check for races.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "runtime/code/buffers.hpp"
#include "runtime/gate.hpp"
#include "runtime/races/ordering.hpp"
#include "runtime/races/race_check.hpp"

namespace sluice::runtime {

// RaceObserver. What the shim calls is thread-safe: it takes the runtime's lock.
class RaceObserver final : public RaceCheck {
 public:
  RaceObserver(Gate& gate, const Buffers& buffers) : gate_(gate), buffers_(buffers) {}

  // For the shim: tell() is a call that orders streams, events and the host, as the clocks take it:
  // tell(&StreamClocks::event_done, event). copied() is a copy or memset with the stream that it
  // runs on. Both only of calls that have succeeded.
  template <class... Taken, class... Given>
  void tell(void (StreamClocks::*what)(Taken...), Given... given) {
    gate_.enter_open([&] { (clocks().*what)(given...); });
  }
  void copied(const CopyCall& call);
  // host_function_queued() returns what host_function_began() takes when the function runs.
  std::shared_ptr<const VectorClock> host_function_queued(void* stream);
  void host_function_began(const std::shared_ptr<const VectorClock>& moment);
  // found() counts the pairs of kernels for which a race was found.
  uint64_t found() const;

  // For the runtime, under its lock.
  void launched(const Known& launch) override;

 private:
  Gate& gate_;
  const Buffers& buffers_;
};

}  // namespace sluice::runtime
