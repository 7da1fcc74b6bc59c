// A launch whose threads are watched: what they race for, and what memory they touch.
#pragma once

#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "hostcuda/block_abi.h"
#include "hostcuda/driver/code/watched_kernel.hpp"
#include "hostcuda/driver/launch_watch/known_launches.hpp"
#include "hostcuda/driver/memory_watch/memory_faults.hpp"
#include "hostcuda/driver/thread_watch/thread_races.hpp"

namespace sluice::hostcuda {

// WatchedLaunch is one run of such a launch. What is found is told when it goes.
class WatchedLaunch {
 public:
  // is_wanted() is true where somebody hears of anything.
  static bool is_wanted();

  WatchedLaunch(const WatchedKernel& kernel, const SluiceBlockCode& code,
                const SluiceBlockLaunch& launch);
  ~WatchedLaunch();
  WatchedLaunch(const WatchedLaunch&) = delete;

  // is_right() is true of a launch that need not be watched: nothing can be wrong with it.
  bool is_right() const { return is_right_; }

  // code() is what runs its blocks, with its launch or a copy of it, on any thread.
  const SluiceBlockCode& code() const { return watching_code_; }

 private:
  class Block;
  class IdleBlocks;

  static IdleBlocks& idle_blocks();
  static void run_blocks(const SluiceBlockLaunch* launch, uint32_t first, uint32_t count,
                         void* scratch);
  std::unique_ptr<Block> take_block();
  void learn() const;

  const WatchedKernel kernel_;
  const SluiceBlockCode code_;
  SluiceBlockCode watching_code_;
  const SluiceBlockLaunch launch_;
  const KnownLaunches::Key key_;
  bool is_right_ = false;
  std::optional<ThreadRaces> races_;
  std::optional<MemoryFaults> faults_;
  std::mutex mutex_;
  std::vector<std::unique_ptr<Block>> free_;  // that no thread uses now
};

}  // namespace sluice::hostcuda
