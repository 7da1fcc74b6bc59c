#include "hostcuda/driver/stream/resident_blocks.hpp"

#include <condition_variable>
#include <mutex>
#include <system_error>
#include <vector>

#include "hostcuda/driver/stream/scratch.hpp"
#include "hostcuda/driver/stream/threads.hpp"

namespace sluice::hostcuda {
namespace {

// GridWorkspace is what the toolkit's grid groups find at the address in %envreg1 and %envreg2
// (cooperative_groups/details/driver_abi.h).
struct GridWorkspace {
  uint32_t bytes = sizeof(GridWorkspace);
  uint32_t barrier = 0;
};

// Gate holds the threads of a launch back until all are there, and knows when all have gone. Its
// launch outlives them: run_resident() leaves last.
class Gate {
 public:
  enum class Signal { wait, run, give_up };

  void open(Signal signal) {
    const std::lock_guard lock(mutex_);
    signal_ = signal;
    opened_.notify_all();
  }
  bool pass() {
    std::unique_lock lock(mutex_);
    opened_.wait(lock, [&] { return signal_ != Signal::wait; });
    return signal_ == Signal::run;
  }
  void leave() {
    // Notified under the lock: whoever waits destroys the gate as soon as it has the lock.
    const std::lock_guard lock(mutex_);
    ++gone_;
    all_gone_.notify_all();
  }
  void wait_for(uint32_t threads) {
    std::unique_lock lock(mutex_);
    all_gone_.wait(lock, [&] { return gone_ == threads; });
  }

 private:
  std::mutex mutex_;
  std::condition_variable opened_;
  std::condition_variable all_gone_;
  Signal signal_ = Signal::wait;
  uint32_t gone_ = 0;
};

}  // namespace

bool run_resident(const SluiceBlockCode& code, const SluiceBlockLaunch& launch, uint32_t blocks) {
  GridWorkspace workspace;
  SluiceBlockLaunch with_workspace = launch;
  with_workspace.grid_workspace = reinterpret_cast<uint64_t>(&workspace);

  std::vector<DeviceBytes> scratch;
  for (uint32_t block = 0; block < blocks; ++block) {
    scratch.push_back(make_scratch(code.scratch_bytes));
    if (scratch.back() == nullptr) return false;
  }
  Gate gate;
  const auto run_block = [&](uint32_t block) {
    code.function(&with_workspace, block, 1, scratch[block].get());
  };
  uint32_t started = 0;
  try {
    for (uint32_t block = 1; block < blocks; ++block, ++started) {
      start_daemon_thread("sluice-block", [&, block] {
        if (gate.pass()) run_block(block);
        gate.leave();
      });
    }
  } catch (const std::system_error&) {
    gate.open(Gate::Signal::give_up);
    gate.wait_for(started);
    return false;
  }
  gate.open(Gate::Signal::run);
  run_block(0);
  gate.wait_for(started);
  return true;
}

}  // namespace sluice::hostcuda
