// The threads that run the blocks of launches.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <vector>

#include "base/processors.hpp"
#include "hostcuda/block_abi.h"

namespace sluice::hostcuda {

// BlockPool spreads the blocks of launches over the calling threads and its helpers. The helpers
// join one launch at a time; one that runs meanwhile on another thread goes on alone and gets them
// when they are free. Helpers that have nothing to do spin for at most 50 microseconds, then sleep:
// an idle pool takes no CPU time. The pool and its threads live as long as the process.
class BlockPool {
 public:
  // `workers` counts a calling thread too; one less is the number of helpers.
  explicit BlockPool(unsigned workers);
  BlockPool(const BlockPool&) = delete;

  unsigned workers() const { return workers_; }

  // run() runs blocks 0 .. blocks - 1 and returns when the last is done. Thread-safe.
  // `block_nanoseconds` is what a block of this kernel took when last measured, 0 where unknown; it
  // decides whether waking sleeping helpers is worth its price, and is updated. False where no
  // memory could be had for the blocks' scratch; then nothing has run.
  bool run(const SluiceBlockCode& code, const SluiceBlockLaunch& launch, uint64_t blocks,
           std::atomic<uint32_t>& block_nanoseconds);

 private:
  struct Job {
    SluiceBlockCode code = {};
    const SluiceBlockLaunch* launch = nullptr;
    uint64_t blocks = 0;
    uint64_t chunk = 1;
    bool is_long = false;          // whether its owner moves away from where a helper sleeps
    int processor = no_processor;  // that runs its owner
    std::atomic<uint64_t> next_block{0};
  };

  void start_helpers();
  bool try_share(Job& job);
  void leave_helpers_room() const;
  void end_sharing();
  void help(std::atomic<int>& bed);
  uint32_t wait_for_job_after(uint32_t seen, std::atomic<int>& bed);
  // work_on_job() returns how many blocks it ran. Between chunks it calls between().
  template <class Between>
  static uint64_t work_on_job(Job& job, void* scratch, Between between);

  const unsigned workers_;
  std::once_flag helpers_started_;
  // Where each helper went to sleep, and so will be woken; no_processor while it is awake.
  std::vector<std::atomic<int>> beds_;
  std::atomic<bool> helpers_taken_{false};
  Job* shared_job_ = nullptr;  // of whoever took the helpers
  // A shared job has a number. Helpers wait for published_ to change, register in active_, and work
  // only if the job is still open; its owner closes it and then waits until active_ is zero. All
  // three are accessed sequentially consistently, so no helper can slip in after that.
  std::atomic<uint32_t> published_{0};
  std::atomic<uint32_t> open_{0};
  std::atomic<uint32_t> active_{0};
};

}  // namespace sluice::hostcuda
