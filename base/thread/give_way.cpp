#include "base/thread/give_way.hpp"

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
// How long it then gives way to nobody, in times what the last yield took, where others had more
// than a quarter of the processors meanwhile.
constexpr int rest = 30;

thread_local Clock::time_point gives_way_from;

std::chrono::nanoseconds processor_time() {
  timespec time{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
  return std::chrono::seconds(time.tv_sec) + std::chrono::nanoseconds(time.tv_nsec);
}

}  // namespace

void give_way() {
  static const int64_t processors = available_processors();
  const Clock::time_point before = Clock::now();
  if (before < gives_way_from) return;
  const std::chrono::nanoseconds used = processor_time();
  std::this_thread::yield();
  const Clock::time_point after = Clock::now();
  const std::chrono::nanoseconds taken = after - before;
  if (taken < long_yield) return;
  const bool has_most = 4 * (processor_time() - used) > 3 * processors * taken;
  if (!has_most) gives_way_from = after + rest * taken;
}

}  // namespace sluice
