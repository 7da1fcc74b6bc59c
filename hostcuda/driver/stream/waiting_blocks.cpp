#include "hostcuda/driver/stream/waiting_blocks.hpp"

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <system_error>
#include <utility>

#include "base/log.hpp"
#include "hostcuda/driver/stream/scratch.hpp"
#include "hostcuda/driver/stream/threads.hpp"
#include "hostcuda/jit/block_compiler.hpp"

namespace sluice::hostcuda {
namespace {

// WaitingRun is one such launch. Its threads take block after block until none is left. Its launch
// outlives them: run() leaves last.
class WaitingRun {
 public:
  WaitingRun(const SluiceBlockCode& code, const SluiceBlockLaunch& launch, uint32_t blocks,
             uint32_t most)
      : code_(code), launch_(launch), blocks_(blocks), most_(std::min(most, blocks)) {}

  bool run(uint32_t processors) {
    const DeviceBytes scratch = make_scratch(code_.scratch_bytes);
    if (scratch == nullptr) return false;
    for (uint32_t i = 1; i < processors; ++i)
      add_thread();
    work(scratch.get());
    std::unique_lock lock(mutex_);
    all_gone_.wait(lock, [&] { return threads_ == 1; });
    return true;
  }

 private:
  // A block's wait, told of at each look, makes place for one more.
  struct Block {
    WaitingRun* run;
    bool has_waited = false;
  };
  static void hear(void* data) {
    auto* block = static_cast<Block*>(data);
    if (!std::exchange(block->has_waited, true)) block->run->add_thread();
  }

  void work(void* scratch) {
    Block block{this};
    const WaitListener listener{hear, &block};
    set_wait_listener(&listener);
    for (uint64_t next = next_++; next < blocks_; next = next_++) {
      block.has_waited = false;
      code_.function(&launch_, static_cast<uint32_t>(next), 1, scratch);
    }
    set_wait_listener(nullptr);
  }

  void add_thread() {
    const std::lock_guard lock(mutex_);
    if (threads_ >= most_ || next_.load() >= blocks_) return;
    auto scratch = std::make_shared<DeviceBytes>(make_scratch(code_.scratch_bytes));
    try {
      if (*scratch == nullptr) return refuse();
      start_daemon_thread("sluice-block", [this, scratch] {
        work(scratch->get());
        // Notified under the lock: whoever waits destroys the run as soon as it has the lock.
        const std::lock_guard leaving(mutex_);
        --threads_;
        all_gone_.notify_all();
      });
      ++threads_;
    } catch (const std::system_error&) {
      refuse();
    }
  }

  // Those that run go on, and may still get what they wait for.
  void refuse() {
    most_ = threads_;
    log::warning("no threads or no memory for more than {} blocks at once, which wait for others",
                 threads_);
  }

  const SluiceBlockCode& code_;
  const SluiceBlockLaunch& launch_;
  const uint64_t blocks_;
  std::atomic<uint64_t> next_{0};
  std::mutex mutex_;
  std::condition_variable all_gone_;
  uint32_t most_;         // guarded by mutex_, as threads_
  uint32_t threads_ = 1;  // the caller's among them
};

}  // namespace

bool run_waiting(const SluiceBlockCode& code, const SluiceBlockLaunch& launch, uint32_t blocks,
                 uint32_t most, uint32_t processors) {
  return WaitingRun(code, launch, blocks, most).run(processors);
}

}  // namespace sluice::hostcuda
