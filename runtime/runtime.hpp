// The runtime: it takes the program's launches, finds what they depend on, holds them back while
// the device is busy, and hands windows of them to the megakernel. What it cannot prove it passes
// through in stream order.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <variant>

#include "base/result.hpp"
#include "dro/rule.hpp"
#include "runtime/code/kernel_model.hpp"
#include "runtime/device.hpp"
#include "runtime/faults/fault.hpp"
#include "runtime/launch/exclusion.hpp"
#include "runtime/launch/transfer.hpp"
#include "runtime/observed.hpp"
#include "runtime/policy/policy.hpp"

// By name alone, as are the shim's other parts of the runtime: else a change in dro compiled
// interpose too.
namespace sluice::dro {
struct TrackerCounters;
}  // namespace sluice::dro

namespace sluice::runtime {

class HostCopies;
class RaceObserver;

struct Config {
  dro::Rule rule = dro::Rule::exact;
  std::string journal_path;        // empty: no journal
  std::string program;             // for the journal's header
  uint32_t workers = 0;            // 0: one for each processor
  uint32_t window_launches = 256;  // a window closes at this many launches
  // Trace so many blocks of each launch, 0: every one, and compare them with their footprints.
  std::optional<uint32_t> check_blocks;
  bool time_tasks = false;       // note in the journal when each task ran
  uint32_t stress = 0;           // not 0, for tests: the seed of random topological orders
  std::optional<Checks> checks;  // look for faults of the program; launches run one by one
  Exclusion exclusion;           // launches that pass through
  bool summarise = false;        // count what summary() says
  bool hash_copies = false;      // note in the journal, if any, what is copied to the host
  // Step aside where Sluice does not pay; nothing: launches always go as tasks. Windows of a
  // backend are not compared with plain launches. `clock` is what the policy measures by; null: the
  // steady clock.
  std::optional<Policy::Config> policy;
  Policy::Clock clock = nullptr;
  // The program's threads wait for the analysis, and for dependences, however long these take. Else
  // launches pass through while they are looked for.
  bool waits_for_analysis = true;
};

// VariableOf is memory of a variable of loaded code, whose place the driver has told the program.
struct VariableOf {
  void* code = nullptr;
};
using MemoryOrigin = std::variant<Memory, VariableOf>;

// StreamCall is a call that puts something else than a kernel's launch on a stream.
struct EventRecord {
  void* event = nullptr;  // CUevent
  StreamKey stream;
};
struct GraphLaunch {
  void* graph = nullptr;  // CUgraphExec
  StreamKey stream;
};
struct EventWait {
  void* event = nullptr;  // for which the stream waits
  StreamKey stream;
};
// HostFunction is one of the program's, which begins behind all that its stream has and holds back
// all that follows there; or words of memory that the stream writes or waits for.
struct HostFunction {
  StreamKey stream;
};
using StreamCall = std::variant<EventRecord, EventWait, HostFunction, Transfer, GraphLaunch>;

// Runtime. All functions are thread-safe; none throws, none blocks for the device's work except
// where it says so. `device` must outlive it. After a bug of ours (a failed assertion, no memory)
// it says so once, hands what it held back to the driver and lets everything pass.
class Runtime {
 public:
  // create() fails only where the journal cannot be written.
  static Result<std::unique_ptr<Runtime>> create(const Config& config, Device& device,
                                                 ModelMaker maker);
  ~Runtime();

  // Code: `code` is a CUmodule or CUlibrary, `image` what the program gave the driver for it.
  void code_loaded(void* code, const void* image);
  void code_unloaded(void* code);  // closes all windows and waits for them first
  // function_found() says that `function` (CUfunction or CUkernel) is `kernel` of `code`;
  // function_alias() that `function` is the same kernel as `original`.
  void function_found(void* function, void* code, const char* kernel);
  void function_alias(void* function, void* original);
  // function_changed() says that the program has set an attribute of the function: the driver may
  // refuse launches now that it accepted before, and the other way round.
  void function_changed(void* function);
  // code_alias() says that `code` (a CUmodule) holds the same kernels as `original` (a CUlibrary).
  void code_alias(void* code, void* original);

  // Memory that kernels reach: `address` as the program sees it, `bytes` as it asked for them.
  void memory_allocated(uint64_t address, uint64_t bytes, const MemoryOrigin& origin = Memory());
  void memory_freed(uint64_t address);
  // memory_written() says that a copy or memset, already ordered after all launches so far,
  // writes these bytes. Call it after flush().
  void memory_written(uint64_t address, uint64_t bytes);

  // launch() takes a launch or passes it through; the result is what the program gets. It blocks
  // while several full windows are queued, as a driver does whose queue is full.
  int launch(const LaunchCall& call);

  // pass_through() tells of a launch-like call that the runtime has no model of (cooperative,
  // attributes, graphs): it closes the windows and notes the reason. The caller then makes the
  // call itself.
  void pass_through(const char* kernel, const std::string& reason);

  // flush() closes the windows of what a call may observe: what was held back of it is in its
  // stream when this returns, so that the driver's own ordering covers it. Call it before any call
  // that could observe results.
  void flush(const Observed& observed = Everything{});

  // take() takes another call that puts something on a stream, as a task among its launches or, a
  // graph, as its launches, and returns what the program gets. Nothing: the caller makes the call
  // itself, a transfer after flush(), a graph after pass_through(); what comes before an event, or
  // before a wait for it or a function, is then in its stream.
  std::optional<int> take(const StreamCall& call);

  // context_ends() flushes, waits for all windows, and lets go of what a backend holds in the
  // CUcontext, or in any for null. Call it before the context is destroyed or reset.
  void context_ends(void* context);

  // finish() flushes, waits for the device to end all windows, and completes the journal. Launches
  // after it go to the driver as they are. Where `patience` passes and no window has ended or is
  // running, it waits no longer: what stands before them in their streams may never end.
  static constexpr std::chrono::milliseconds forever = std::chrono::milliseconds::max();
  void finish(std::chrono::milliseconds patience = forever);

  // races() is what the shim tells of calls that order work or move bytes; null where no faults are
  // looked for. The answer never changes.
  RaceObserver* races() const;

  // copies() is what the shim tells of copies to the host; null where these are not hashed. The
  // answer never changes.
  HostCopies* copies() const;

  // counters() is what the tracker has found so far.
  dro::TrackerCounters counters() const;

  // outcome() is what the run was. Call it after finish().
  struct Outcome {
    std::string summary;  // in one line; empty where it is not counted
    // Accesses outside footprints, and must-writes that did not happen, in the blocks that have
    // run; 0 where they are not checked.
    uint64_t footprint_violations = 0;
  };
  Outcome outcome() const;

 private:
  struct State;
  explicit Runtime(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace sluice::runtime
