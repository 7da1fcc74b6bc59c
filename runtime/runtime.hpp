// The runtime: it takes the program's launches, finds what they depend on, holds them back while
// the device is busy, and hands windows of them to the megakernel. What it cannot prove it passes
// through in stream order.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "base/result.hpp"
#include "dro/rule/tracker.hpp"
#include "dro/types.hpp"
#include "runtime/code/kernel_model.hpp"
#include "runtime/device.hpp"
#include "runtime/launch/exclusion.hpp"
#include "runtime/policy/policy.hpp"

namespace sluice::runtime {

class RaceObserver;

struct Config {
  dro::Rule rule = dro::Rule::exact;
  std::string journal_path;        // empty: no journal
  std::string program;             // for the journal's header
  uint32_t workers = 0;            // 0: one for each processor
  uint32_t window_launches = 256;  // a window closes at this many launches
  bool check_footprints = false;   // trace blocks and compare them with their footprints
  uint32_t check_blocks = 0;       // how many of each launch are traced; 0: every block
  bool time_tasks = false;         // note in the journal when each task ran
  uint32_t stress = 0;             // not 0, for tests: the seed of random topological orders
  bool check_races = false;        // find races between streams; launches run one by one
  Exclusion exclusion;             // launches that pass through
  bool summarise = false;          // count what summary() says
  // Step aside where Sluice does not pay; nothing: launches always go as tasks. `clock` is what the
  // policy measures by; null: the steady clock.
  std::optional<Policy::Config> policy;
  Policy::Clock clock = nullptr;
};

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
  // code_alias() says that `code` (a CUmodule) holds the same kernels as `original` (a CUlibrary).
  void code_alias(void* code, void* original);

  // Memory of the device: `address` as the program sees it, `bytes` as it asked for them.
  void memory_allocated(uint64_t address, uint64_t bytes);
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

  // flush() closes every window: what was held back is in its stream when this returns, so that
  // the driver's own ordering covers it. Call it before any call that could observe results.
  void flush();

  // context_ends() flushes, waits for all windows, and lets go of what a backend holds in the
  // CUcontext, or in any for null. Call it before the context is destroyed or reset.
  void context_ends(void* context);

  // finish() flushes, waits for the device to end all windows, and completes the journal. Launches
  // after it go to the driver as they are. Where `patience` passes and no window has ended or is
  // running, it waits no longer: what stands before them in their streams may never end.
  static constexpr std::chrono::milliseconds forever = std::chrono::milliseconds::max();
  void finish(std::chrono::milliseconds patience = forever);

  // races() is what the shim tells of calls that order work or move bytes; null where races are not
  // checked. The answer never changes.
  RaceObserver* races() const;

  // counters() is what the tracker has found so far.
  dro::DependenceTracker::Counters counters() const;

  // summary() is what Sluice did, in one line; empty where it is not counted. Call it after
  // finish().
  std::string summary() const;

  // footprint_violations() counts accesses outside footprints, and must-writes that did not happen,
  // in the blocks that have run so far; 0 where they are not checked.
  uint64_t footprint_violations() const;

 private:
  struct State;
  explicit Runtime(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace sluice::runtime
