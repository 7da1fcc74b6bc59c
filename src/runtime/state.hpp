// What stands behind Runtime: one lock, the registries, the tracker and the window.
#pragma once

#include <atomic>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "dro/journal/journal.hpp"
#include "dro/rule/tracker.hpp"
#include "runtime/check/footprint_check.hpp"
#include "runtime/code_registry.hpp"
#include "runtime/executor_pool.hpp"
#include "runtime/held_streams.hpp"
#include "runtime/memory_registry.hpp"
#include "runtime/plan.hpp"
#include "runtime/races/race_check.hpp"
#include "runtime/runtime.hpp"
#include "runtime/window.hpp"

namespace sluice::runtime {

// State does the work of the functions of Runtime that have the same names. All but launch() may
// throw; Runtime then calls turn_off().
class Runtime::State {
 public:
  State(const Config& config, Device& device, ModelMaker maker,
        std::unique_ptr<dro::JournalWriter> journal);

  void code_loaded(void* code, const void* image);
  void code_alias(void* code, void* original);
  void code_unloaded(void* code);
  void function_found(void* function, void* code, const char* kernel);
  void function_alias(void* function, void* original);
  void memory_allocated(uint64_t address, uint64_t bytes);
  void memory_freed(uint64_t address);
  void memory_written(uint64_t address, uint64_t bytes);
  int launch(const LaunchCall& call);
  void pass_through(const char* kernel, const std::string& reason);
  void flush();
  void context_ends(void* context);
  void finish(std::chrono::milliseconds patience);
  dro::DependenceTracker::Counters counters();
  uint64_t footprint_violations() const { return check_ == nullptr ? 0 : check_->violations(); }

  // What only a check for races needs (races.cpp).
  bool checks_races() const { return races_ != nullptr; }
  void ordered(const Ordering& ordering);
  void copied(const CopyCall& call);
  std::shared_ptr<const VectorClock> host_function_queued(void* stream);
  void host_function_began(const std::shared_ptr<const VectorClock>& moment);
  uint64_t races();

  // turn_off() logs what the exception being handled says, gives held launches to the driver and
  // lets everything pass from now on.
  void turn_off() noexcept;

 private:
  using Lock = std::unique_lock<std::mutex>;

  // The steps of a launch (launch.cpp). `understand` fills the scratch members; it returns null,
  // or why the launch must pass through.
  int launch_locked(const LaunchCall& call);
  const char* understand(const LaunchCall& call, Function& function);
  // may_follow() is whether following the kernel's launches has not cost more than they allow.
  bool may_follow(Kernel& kernel, const LaunchCall& call);
  void read_shape(const LaunchCall& call, const analysis::KernelSignature& signature);
  // recall() finds a recent launch of the same arguments, if there is one; remember() makes one.
  bool recall(const LaunchCall& call, Function& function);
  void remember(const LaunchCall& call, Function& function);
  const CachedFootprint& footprint_of(Kernel& kernel);
  const char* bind_arguments(const Function& function, const analysis::KernelSignature& signature,
                             const CachedFootprint& footprint);
  // variable_address() is 0 where the device does not say.
  uint64_t variable_address(const Function& function, const analysis::ParameterSlot& slot);
  void add_buffer(uint64_t address, uint64_t bytes);
  void remove_buffer(uint64_t address);
  const BlockCode& block_code(Function& function, const LaunchCall& call);
  void find_device_code(const Function& function, const LaunchCall& call, BlockCode& code);
  // pass_on() has launch() give the call to the device once the lock is free: what the device does
  // there takes longer than all that is done here, and other threads launch too.
  int pass_on();
  int pass_opaque(const LaunchCall& call, dro::LaunchNumber number, Kernel* kernel,
                  const std::string& reason);
  int take(const LaunchCall& call, dro::LaunchNumber number, Function& function);
  int launch_for_races(const LaunchCall& call, dro::LaunchNumber number, const Function& function);
  void hold(HeldStream& stream, const LaunchCall& call, dro::LaunchNumber number,
            const Function& function, const BlockCode& code);
  // What the footprint check needs of the launch being held (check_ is not null).
  std::shared_ptr<megakernel::BlockRunner> watch(const Function& function);
  void write_check_records();

  // What the governor asks for (pace.cpp). give_plainly() gives a launch that was followed to the
  // device and measures it; judge() is told of each window, and each such run, that has ended.
  uint64_t work_of(Kernel& kernel, const BlockCode& code, const LaunchCall& call) const;
  int give_plainly(const LaunchCall& call, Kernel& kernel, const BlockCode& code);
  void plain_done(const LaunchWindow::Called& called, HeldStream& stream);
  void judge(Governor::Way way, const LaunchWindow::Called& called);
  int64_t time_of_call() const { return called_ != 0 ? called_ : clock_(); }
  void find_stream(void* stream);
  void describe(const LaunchCall& call, const std::string& kernel, const std::string& reason);
  void tell(Kernel& kernel, const std::string& reason);

  // The way of a window (submit.cpp).
  // submit() gives the stream's window to the device and returns the CUresult. close() keeps an
  // error for the next launch, where the launches it belongs to have returned to the program;
  // close_windows() does so with all streams, and close_related() with those that the device orders
  // with `stream` unasked, and with those that hold what the launch being taken depends on.
  int submit(HeldStream& stream);
  void close(HeldStream& stream);
  void close_windows();
  void close_related(const HeldStream& stream, bool is_default);
  int hand_over(const std::shared_ptr<PlannedWindow>& window, HeldStream& stream);
  void run_window(PlannedWindow& window, HeldStream& stream);
  bool plan(PlannedWindow& window) noexcept;
  void run_timed(const PlannedWindow& window);
  // has_room() lets launches go on that waited because most_outstanding_ were outstanding. They
  // wait until half of these have ended: a thread that is woken at each window's end takes the
  // processor each time from the thread that is about to run the next one. What is left lasts until
  // a thread that finds all processors busy gets one.
  bool has_room() const { return outstanding_launches_ <= most_outstanding_ / 2; }
  void ended(size_t launches);
  void window_done(const LaunchWindow& window, HeldStream& stream, bool failed);
  void wait_until_idle(Lock& lock, std::chrono::milliseconds patience = Runtime::forever);
  void turn_off_locked() noexcept;
  bool passes_all() const { return off_ || finished_; }

  const Config config_;
  Device& device_;
  megakernel::WindowBackend* const backend_;  // null: the host's workers run windows
  const uint32_t window_limit_;
  const size_t most_outstanding_;
  const std::unique_ptr<FootprintCheck> check_;  // null: footprints are not checked
  const bool times_tasks_;
  const int64_t start_;                     // steady clock, nanoseconds
  const std::unique_ptr<RaceCheck> races_;  // null: races are not checked
  int64_t (*const clock_)();

  std::mutex mutex_;  // guards all that follows but executors_ and planner_
  std::condition_variable window_ended_;
  std::condition_variable room_made_;            // has_room() may hold
  std::unique_ptr<dro::JournalWriter> journal_;  // null: none. Outlives tracker_.
  dro::WarningLog warnings_;                     // for a tracker without a journal
  dro::DependenceTracker tracker_;
  MemoryRegistry memory_;
  uint64_t memory_changes_ = 0;  // what was remembered before the last one is void
  CodeRegistry code_;
  // Variables that launches have used, by the code that they belong to.
  std::unordered_multimap<void*, uint64_t> variables_;
  uint64_t streams_counted_ = 0;
  dro::LaunchNumber last_launch_ = 0;
  HeldStreams held_;
  size_t outstanding_windows_ = 0;  // of all streams
  size_t outstanding_launches_ = 0;
  std::atomic<size_t> running_windows_{0};  // by the host's workers
  uint64_t windows_ended_ = 0;
  uint64_t launches_ended_ = 0;  // in windows
  int deferred_error_ = 0;       // of launches whose calls had returned; the next launch gets it
  bool off_ = false;
  bool finished_ = false;
  bool handed_over_ = false;  // the launch being taken is in the window or with the driver
  bool passes_on_ = false;    // it goes to the driver when the lock is free

  // Of the launch being taken; members so that a repeat launch allocates nothing.
  HeldStream* stream_ = nullptr;
  bool stream_is_new_ = false;
  std::vector<std::byte> parameters_;
  analysis::LaunchShape shape_;
  BoundLaunch fresh_;                   // of one that is not among the recent ones
  BoundLaunch* bound_ = nullptr;        // fresh_, or that of a recent launch
  std::vector<BoundPointer> pointers_;  // filled only for the checks
  std::vector<dro::Dependence> dependences_;
  std::string reason_;
  // When the program called it; 0 where nobody asks for that: for the governor a window begins when
  // its first launch is called.
  int64_t called_ = 0;
  Governor::Way way_ = Governor::Way::tasks;

  FollowingBudget::Limits following_limits_;
  std::optional<Governor> governor_;  // nothing: launches always go as tasks
  LaunchWindow::Called plain_;        // launches that are being measured as plain ones
  int64_t following_ = 0;             // nanoseconds that following those has taken
  int64_t last_ended_ = 0;            // when the device ended the work measured last
  std::string aside_reason_;

  ExecutorPool executors_;
  Planner planner_;
};

}  // namespace sluice::runtime
