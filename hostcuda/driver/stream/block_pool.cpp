#include "hostcuda/driver/stream/block_pool.hpp"

#include <algorithm>
#include <chrono>
#include <system_error>
#include <utility>

#include "base/log.hpp"
#include "base/thread/give_way.hpp"
#include "base/thread/thread_owned.hpp"
#include "hostcuda/driver/stream/scratch.hpp"
#include "hostcuda/driver/stream/threads.hpp"

namespace sluice::hostcuda {
namespace {

using Clock = std::chrono::steady_clock;

// Waking a sleeping thread costs 5 to 50 microseconds; a launch shorter than this is not worth it.
constexpr uint64_t wake_worth_nanoseconds = 20'000;

// Moving to another processor costs 60 microseconds. It spares one launch in four to ten half of
// what that takes one worker.
constexpr uint64_t move_worth_nanoseconds = 600'000;

// A worker takes about an eighth of its share at once: few enough turns to be cheap, enough of
// them that workers end together.
constexpr uint64_t turns_per_worker = 8;

struct Scratch {
  DeviceBytes bytes;
};

// scratch_of_this_thread() returns at least `bytes` bytes, kept for the thread's next launch, or
// nullptr where there is no memory.
void* scratch_of_this_thread(uint64_t bytes) {
  DeviceBytes& scratch = ThreadOwned<Scratch>::get().bytes;
  if (scratch == nullptr || scratch.get_deleter().bytes < bytes) {
    DeviceBytes larger = make_scratch(bytes);
    if (larger == nullptr) return nullptr;
    scratch = std::move(larger);
  }
  return scratch.get();
}

}  // namespace

BlockPool::BlockPool(unsigned workers) : workers_(std::max(1u, workers)), beds_(workers_ - 1) {
  for (std::atomic<int>& bed : beds_)
    bed.store(no_processor);
}

void BlockPool::start_helpers() {
  try {
    for (std::atomic<int>& bed : beds_)
      start_daemon_thread("sluice-cpu", [this, &bed] { help(bed); });
  } catch (const std::system_error&) {
    log::warning("no more threads to be had: launches run on fewer processors");
  }
}

bool BlockPool::run(const SluiceBlockCode& code, const SluiceBlockLaunch& launch, uint64_t blocks,
                    std::atomic<uint32_t>& block_nanoseconds) {
  void* scratch = scratch_of_this_thread(code.scratch_bytes);
  if (scratch == nullptr) return false;
  Job job{code, &launch, blocks, std::max<uint64_t>(1, blocks / (turns_per_worker * workers_))};

  const uint64_t expected = block_nanoseconds.load(std::memory_order_relaxed) * blocks;
  const bool worth_sharing =
      blocks > 1 && workers_ > 1 && (expected == 0 || expected > wake_worth_nanoseconds);
  job.is_long = expected > move_worth_nanoseconds;
  bool shared = worth_sharing && try_share(job);
  const Clock::time_point start = Clock::now();
  const uint64_t done = work_on_job(job, scratch, [&] {
    if (worth_sharing && !shared) shared = try_share(job);
  });
  if (done > 0) {
    const uint64_t nanoseconds = static_cast<uint64_t>((Clock::now() - start).count()) / done;
    block_nanoseconds.store(static_cast<uint32_t>(std::clamp<uint64_t>(nanoseconds, 1, UINT32_MAX)),
                            std::memory_order_relaxed);
  }
  if (shared) end_sharing();
  return true;
}

bool BlockPool::try_share(Job& job) {
  if (helpers_taken_.load(std::memory_order_relaxed) || helpers_taken_.exchange(true)) return false;
  std::call_once(helpers_started_, [this] { start_helpers(); });
  if (job.is_long) leave_helpers_room();
  job.processor = current_processor();
  shared_job_ = &job;
  uint32_t number = published_.load() + 1;
  if (number == 0) number = 1;  // 0 says that no job is open
  open_.store(number);
  published_.store(number);
  published_.notify_all();
  return true;
}

// leave_helpers_room() moves the caller away from where a helper sleeps: Linux may wake that one
// there, beside an idle processor, and let it run when the caller has run all blocks.
void BlockPool::leave_helpers_room() const {
  const int here = current_processor();
  if (std::find(beds_.begin(), beds_.end(), here) == beds_.end()) return;
  move_away(std::vector<int>(beds_.begin(), beds_.end()));
}

void BlockPool::end_sharing() {
  open_.store(0);
  spin_until([&] { return active_.load() == 0; });
  for (uint32_t active = active_.load(); active != 0; active = active_.load()) {
    active_.wait(active);
  }
  helpers_taken_.store(false);
}

template <class Between>
uint64_t BlockPool::work_on_job(Job& job, void* scratch, Between between) {
  uint64_t done = 0;
  for (;;) {
    const uint64_t first = job.next_block.fetch_add(job.chunk, std::memory_order_relaxed);
    if (first >= job.blocks) return done;
    const uint64_t count = std::min(job.chunk, job.blocks - first);
    job.code.function(job.launch, static_cast<uint32_t>(first), static_cast<uint32_t>(count),
                      scratch);
    done += count;
    note_work();
    between();
  }
}

void BlockPool::help(std::atomic<int>& bed) {
  uint32_t seen = 0;
  for (;;) {
    seen = wait_for_job_after(seen, bed);
    active_.fetch_add(1);
    if (open_.load() == seen) {
      Job& job = *shared_job_;
      if (current_processor() == job.processor) move_away({&job.processor, 1});
      void* scratch = scratch_of_this_thread(job.code.scratch_bytes);
      if (scratch != nullptr) work_on_job(job, scratch, [] {});
    }
    if (active_.fetch_sub(1) == 1) active_.notify_one();
  }
}

uint32_t BlockPool::wait_for_job_after(uint32_t seen, std::atomic<int>& bed) {
  if (!spin_until([&] { return published_.load() != seen; })) {
    bed.store(current_processor());
    published_.wait(seen);
    bed.store(no_processor);
  }
  return published_.load();
}

}  // namespace sluice::hostcuda
