// The parts of the runtime, and the way of a launch through them.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "runtime/check/footprint_check.hpp"
#include "runtime/check/observer.hpp"
#include "runtime/check/run_summary.hpp"
#include "runtime/code/buffers.hpp"
#include "runtime/code/code_registry.hpp"
#include "runtime/gate.hpp"
#include "runtime/launch/launch_follower.hpp"
#include "runtime/launch/launch_reader.hpp"
#include "runtime/policy/policy.hpp"
#include "runtime/races/race_observer.hpp"
#include "runtime/runtime.hpp"
#include "runtime/stream/stream_windows.hpp"
#include "runtime/stream/window_runner.hpp"

namespace sluice::runtime {

// State. Whoever touches a part holds the gate's lock; only the runner works without it.
struct Runtime::State {
  State(const Config& config, Device& device, ModelMaker maker,
        std::unique_ptr<dro::JournalWriter> journal);

  // take() is one launch: understand it, follow it, hold it. Nothing: it goes to the device as it
  // is, when the lock is free: what the device does there takes longer than all that is done here,
  // and other threads launch too.
  std::optional<int> take(const LaunchCall& call);

  Gate gate;
  Device& device;
  megakernel::WindowBackend* const backend;  // null: the host's workers run windows
  Observers observers;
  Policy policy;
  LaunchFollower follower;
  Buffers buffers;
  CodeRegistry code;
  LaunchReader reader;
  WindowRunner runner;
  StreamWindows streams;
  FootprintCheck* check = nullptr;  // of the observers; null: footprints are not checked
  RaceObserver* races = nullptr;    // likewise
  RunSummary* summary = nullptr;    // likewise

 private:
  std::optional<int> give(const Known& launch, Policy::Way way);
  void pass(const LaunchCall& call, dro::LaunchNumber number, const Reason& reason);
};

}  // namespace sluice::runtime
