// The parts of the runtime, and the way of a launch through them.
#pragma once

#include <atomic>
#include <memory>
#include <optional>
#include <string>

#include "runtime/background.hpp"
#include "runtime/check/footprint_check.hpp"
#include "runtime/check/host_copies.hpp"
#include "runtime/check/observer.hpp"
#include "runtime/check/run_summary.hpp"
#include "runtime/code/buffers.hpp"
#include "runtime/code/code_registry.hpp"
#include "runtime/faults/fault_report.hpp"
#include "runtime/faults/launch_faults.hpp"
#include "runtime/gate.hpp"
#include "runtime/launch/launch_follower.hpp"
#include "runtime/launch/launch_reader.hpp"
#include "runtime/launch/transfer.hpp"
#include "runtime/launch/waiting.hpp"
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
  std::optional<int> take(const LaunchCall& call, GraphNode* node = nullptr);
  // The launches of a graph, one after the other: nothing of another thread comes between. Nothing
  // where one of its steps is no launch: then none was taken.
  std::optional<int> take(const GraphLaunch& graph, Gate::Lock& lock);
  // is_launch() is whether a copy or fill is a launch. What it says depends on the program's calls
  // alone, so that launches have the same numbers in every run. Those of a program without kernels,
  // and of memory that Sluice does not know, are the driver's.
  bool is_launch(const Transfer& transfer) const;
  bool can_be_launch(const Transfer& transfer) const;  // in a program with kernels
  // repeat() launches a graph by what is kept of it; false, and nothing was done, where that can't
  // be. renew() takes what was changed of it since into what is kept, and is false where a node
  // touches other bytes now. count() is whether the policy can count a graph that is held as a
  // whole.
  bool repeat(KnownGraph& known, const GraphSteps& graph, const StreamKey& stream);
  bool renew(KnownGraph& known, const GraphSteps& graph, const StreamKey& stream);
  bool count(KnownGraph& known);
  // keep_figures() keeps, at the end, what analyses and searches have taken in vain.
  void keep_figures();

  // Work is what is done beside the program's threads.
  struct Work {
    Work(bool waits, Policy::Clock measured_by, Device& device, Policy& policy)
        : analysing(waits), finding(waits), lead(device, policy), clock(measured_by) {}
    Background analysing;
    Background finding;  // dependences
    Lead lead;           // which waiting for it spends
    const Policy::Clock clock;
    // The launch whose dependences were looked for the last time, what of its kernel is charged,
    // and what `finding` had spent before.
    std::shared_ptr<Kernel> last_kernel;
    Policy::Mark::Size* last_size = nullptr;
    int64_t last_from = 0;
    std::shared_ptr<const LaunchFollower::Search> last_search;
  };

  Gate gate;
  Work work;
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
  // Those of the observers that are asked for something; null: not there.
  struct Asked {
    FootprintCheck* check = nullptr;
    FaultReport* faults = nullptr;
    RaceObserver* races = nullptr;
    RunSummary* summary = nullptr;
    HostCopies* copies = nullptr;
  } asked;
  // Whether there was a launch since all windows were closed. A launch sets it under the lock; a
  // thread that the program has ordered behind that launch sees it without.
  std::atomic<bool> has_to_flush{false};
  struct Takes {
    bool transfers = false;  // copies and fills may be launches
    // Managed and pinned memory are buffers. What the host does there no check for faults is told.
    bool host_memory = false;
  };
  const Takes takes;

 private:
  // holds() is whether one buffer has all of these bytes; the host may not watch it but where it
  // may.
  bool holds(uint64_t address, uint64_t bytes, bool host_may_watch) const;
  Waiting waiting() { return {work.finding, policy, device, gate, work.lead}; }  // for dependences
  std::optional<int> give(const Known& launch);
  // measure() gives a launch plainly, so that the policy sees what that takes.
  int measure(const Known& launch);
  // find() is what a launch depends on; nothing where it may not be found, or not now, and has been
  // passed.
  std::optional<Dependences> find(const Known& launch, const std::string& passed_through);
  // give_up() lets a launch that was followed, or that the journal knows of, go as it is.
  void give_up(const Known& launch, const std::string& why);
  std::optional<Dependences> find_in_background(const Known& launch,
                                                const std::string& passed_through);
  // keep_steps() keeps what new launches have taken for later starts, in the background.
  void keep_steps(const std::shared_ptr<Kernel>& kernel, const Policy::Mark::Size& size);
  void pass(const LaunchCall& call, dro::LaunchNumber number, const Reason& reason);
  void pass_unsaid(const LaunchCall& call, dro::LaunchNumber number, const Reason& reason);
  // close_before() gives what must come before a launch that goes as it is, behind which nobody
  // knows any more what earlier launches touch. A backend's calls may wait, and what other streams
  // hold the program itself orders: their own next launches give it.
  void close_before(const LaunchCall& call) {
    if (backend == nullptr) return streams.close();
    streams.close_for(OfStream{call.stream});
    streams.cut();
  }
};

}  // namespace sluice::runtime
