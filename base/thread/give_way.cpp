#include "base/thread/give_way.hpp"

#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <thread>

#include <time.h>

#include "base/processors.hpp"

namespace sluice {
namespace {

using Clock = std::chrono::steady_clock;

// Who gives way to a thread of the device comes on again when that one has run its blocks or waits
// itself, which is seldom longer.
constexpr std::chrono::nanoseconds long_yield = std::chrono::milliseconds(1);
// How long it then gives way to nobody, in times what the last yield took, where no worker has run
// there meanwhile, or the process had less than three quarters of a processor.
constexpr int rest = 30;

thread_local Clock::time_point gives_way_from;

// How often work was noted, by processor; some share a place.
struct alignas(64) Noted {
  std::atomic<uint32_t> times{0};
};
std::array<Noted, 64> noted;

std::atomic<uint32_t>& noted_here() {
  return noted[static_cast<uint32_t>(current_processor()) % noted.size()].times;
}

std::chrono::nanoseconds processor_time() {
  timespec time{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
  return std::chrono::seconds(time.tv_sec) + std::chrono::nanoseconds(time.tv_nsec);
}

}  // namespace

void give_way() {
  const Clock::time_point before = Clock::now();
  if (before < gives_way_from) return;
  const std::chrono::nanoseconds used = processor_time();
  const std::atomic<uint32_t>& here = noted_here();
  const uint32_t work = here.load(std::memory_order_relaxed);
  std::this_thread::yield();
  const Clock::time_point after = Clock::now();
  const std::chrono::nanoseconds taken = after - before;
  if (taken < long_yield) return;
  const bool was_for_work =
      here.load(std::memory_order_relaxed) != work && 4 * (processor_time() - used) > 3 * taken;
  if (!was_for_work) gives_way_from = after + rest * taken;
}

void note_work() {
  noted_here().fetch_add(1, std::memory_order_relaxed);
}

}  // namespace sluice
