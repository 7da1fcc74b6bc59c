// The threads that run the blocks of one launch at a time.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "hostcuda/block_abi.h"

namespace sluice::hostcuda {

// BlockPool spreads the blocks of a launch over the calling thread and its helpers. Helpers that
// have nothing to do spin for at most 50 microseconds, then sleep: an idle pool takes no CPU time.
// The pool and its threads live as long as the process.
class BlockPool {
 public:
  // `workers` counts the calling thread too; one less is the number of helpers.
  explicit BlockPool(unsigned workers);
  BlockPool(const BlockPool&) = delete;

  unsigned workers() const { return static_cast<unsigned>(scratch_.size()); }

  // run() runs blocks 0 .. blocks - 1 and returns when the last is done. One call at a time.
  // `block_nanoseconds` is what a block of this kernel took when last measured, 0 where unknown; it
  // decides whether waking sleeping helpers is worth its price, and is updated. False where no
  // memory could be had for the blocks' scratch; then nothing has run.
  bool run(const SluiceBlockCode& code, const SluiceBlockLaunch& launch, uint64_t blocks,
           std::atomic<uint32_t>& block_nanoseconds);

 private:
  struct Scratch {
    void* memory = nullptr;
    size_t bytes = 0;
  };
  struct Job {
    SluiceBlockCode code = {};
    const SluiceBlockLaunch* launch = nullptr;
    uint64_t blocks = 0;
    uint64_t chunk = 1;
  };

  bool reserve_scratch(uint64_t bytes);
  void start_helpers();
  void publish_job();
  void help(unsigned worker);
  uint32_t wait_for_job_after(uint32_t seen);
  uint64_t work_on_job(unsigned worker);
  void wait_for_helpers();

  std::vector<Scratch> scratch_;  // one for each worker; worker 0 is the caller of run()
  bool helpers_started_ = false;
  Job job_;
  std::atomic<uint64_t> next_block_{0};
  // A job has a number. Helpers wait for published_ to change, register in active_, and work only
  // if the job is still open; run() closes it and then waits until active_ is zero. All three are
  // accessed sequentially consistently, so no helper can slip in after that.
  std::atomic<uint32_t> published_{0};
  std::atomic<uint32_t> open_{0};
  std::atomic<uint32_t> active_{0};
};

}  // namespace sluice::hostcuda
