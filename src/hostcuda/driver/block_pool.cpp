#include "hostcuda/driver/block_pool.hpp"

#include <algorithm>
#include <chrono>
#include <cstdlib>

#include "hostcuda/driver/threads.hpp"

namespace sluice::hostcuda {
namespace {

using Clock = std::chrono::steady_clock;

// Waking a sleeping thread costs 5 to 50 microseconds; a launch shorter than this is not worth it.
constexpr uint64_t wake_worth_nanoseconds = 20'000;

// A worker takes about an eighth of its share at once: few enough turns to be cheap, enough of
// them that workers end together.
constexpr uint64_t turns_per_worker = 8;

constexpr size_t scratch_alignment = 64;

}  // namespace

BlockPool::BlockPool(unsigned workers) : scratch_(std::max(1u, workers)) {}

void BlockPool::start_helpers() {
  helpers_started_ = true;
  for (unsigned worker = 1; worker < workers(); ++worker) {
    start_daemon_thread("sluice-cpu", [this, worker] { help(worker); });
  }
}

bool BlockPool::reserve_scratch(uint64_t bytes) {
  const size_t wanted = (std::max<uint64_t>(bytes, 1) + scratch_alignment - 1) / scratch_alignment *
                        scratch_alignment;
  for (Scratch& scratch : scratch_) {
    if (scratch.bytes >= wanted) continue;
    void* memory = std::aligned_alloc(scratch_alignment, wanted);
    if (memory == nullptr) return false;
    std::free(scratch.memory);
    scratch = {memory, wanted};
  }
  return true;
}

bool BlockPool::run(const SluiceBlockCode& code, const SluiceBlockLaunch& launch, uint64_t blocks,
                    std::atomic<uint32_t>& block_nanoseconds) {
  if (!reserve_scratch(code.scratch_bytes)) return false;
  if (!helpers_started_) start_helpers();
  job_ = {code, &launch, blocks, std::max<uint64_t>(1, blocks / (turns_per_worker * workers()))};
  next_block_.store(0, std::memory_order_relaxed);

  const uint64_t expected = block_nanoseconds.load(std::memory_order_relaxed) * blocks;
  const bool shared =
      blocks > 1 && workers() > 1 && (expected == 0 || expected > wake_worth_nanoseconds);
  if (shared) publish_job();
  const Clock::time_point start = Clock::now();
  const uint64_t done = work_on_job(0);
  if (done > 0) {
    const uint64_t nanoseconds = static_cast<uint64_t>((Clock::now() - start).count()) / done;
    block_nanoseconds.store(static_cast<uint32_t>(std::clamp<uint64_t>(nanoseconds, 1, UINT32_MAX)),
                            std::memory_order_relaxed);
  }
  if (shared) {
    open_.store(0);
    wait_for_helpers();
  }
  return true;
}

void BlockPool::publish_job() {
  uint32_t number = published_.load() + 1;
  if (number == 0) number = 1;  // 0 says that no job is open
  open_.store(number);
  published_.store(number);
  published_.notify_all();
}

uint64_t BlockPool::work_on_job(unsigned worker) {
  uint64_t done = 0;
  for (;;) {
    const uint64_t first = next_block_.fetch_add(job_.chunk, std::memory_order_relaxed);
    if (first >= job_.blocks) return done;
    const uint64_t count = std::min(job_.chunk, job_.blocks - first);
    job_.code.function(job_.launch, static_cast<uint32_t>(first), static_cast<uint32_t>(count),
                       scratch_[worker].memory);
    done += count;
  }
}

void BlockPool::help(unsigned worker) {
  uint32_t seen = 0;
  for (;;) {
    seen = wait_for_job_after(seen);
    active_.fetch_add(1);
    if (open_.load() == seen) work_on_job(worker);
    if (active_.fetch_sub(1) == 1) active_.notify_one();
  }
}

uint32_t BlockPool::wait_for_job_after(uint32_t seen) {
  spin_until([&] { return published_.load() != seen; });
  published_.wait(seen);
  return published_.load();
}

void BlockPool::wait_for_helpers() {
  spin_until([&] { return active_.load() == 0; });
  for (uint32_t active = active_.load(); active != 0; active = active_.load()) {
    active_.wait(active);
  }
}

}  // namespace sluice::hostcuda
