// The runtime's launches, and what the shim tells of other calls, under a check for races.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>

#include "runtime/code/buffers.hpp"
#include "runtime/faults/launch_faults.hpp"
#include "runtime/gate.hpp"
#include "runtime/races/ordering.hpp"
#include "runtime/races/race_check.hpp"

namespace sluice::runtime {

// RaceObserver. What the shim calls is thread-safe: it takes the runtime's lock.
class RaceObserver final : public RaceCheck {
 public:
  RaceObserver(Gate& gate, const Buffers& buffers, FaultReport& report, LaunchFaults& launches)
      : RaceCheck(report, launches.context()),
        gate_(gate),
        buffers_(buffers),
        launches_(launches) {}

  // For the shim, by the functions of ordering.hpp: tell() is a call that orders streams, events
  // and the host, as the clocks take it. copied() is a copy or memset with the stream that it runs
  // on. Both only of calls that have succeeded.
  void tell(const std::function<void(StreamClocks&)>& call) {
    gate_.enter_open([&] { call(clocks()); });
  }
  void copied(const CopyCall& call);
  // perhaps_written() is a call that writes at most these bytes, called_unknown() one that may
  // write whatever the device can reach: so nobody asks later what nothing has written.
  void perhaps_written(uint64_t address, uint64_t bytes);
  void called_unknown() {
    gate_.enter_open([&] { anything_written(); });
  }
  // host_function_queued() returns what host_function_began() takes when the function runs.
  std::shared_ptr<const VectorClock> host_function_queued(const StreamKey& stream);
  void host_function_began(const std::shared_ptr<const VectorClock>& moment);

  // For the runtime, under its lock. LaunchFaults hears before it of the same footprints.
  void add_footprint(dro::FootprintId id, const analysis::Footprint& /*footprint*/) override {
    add(id, launches_.bytes(id));
  }
  void anything_written() { launches_.anything_written(); }
  void launched(const Known& launch) override;
  // to_trace() is where the launch that was told of last should tell what it touches; null: it need
  // not.
  std::shared_ptr<TracedBytes> to_trace() { return std::exchange(to_trace_, nullptr); }

 private:
  Gate& gate_;
  const Buffers& buffers_;
  LaunchFaults& launches_;
  std::shared_ptr<TracedBytes> to_trace_;
};

}  // namespace sluice::runtime
