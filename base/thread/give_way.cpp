#include "base/thread/give_way.hpp"

#include <chrono>
#include <thread>

namespace sluice {
namespace {

using Clock = std::chrono::steady_clock;

// Who gives way to a thread of the device comes on again when that one has run its blocks or waits
// itself, mostly after less than this. Others run for some milliseconds.
constexpr std::chrono::microseconds long_yield{1000};
// How long it then gives way to nobody, in times what the last yield took.
constexpr int rest = 30;

thread_local Clock::time_point gives_way_from;

}  // namespace

void give_way() {
  const Clock::time_point before = Clock::now();
  if (before < gives_way_from) return;
  std::this_thread::yield();
  const Clock::time_point after = Clock::now();
  if (after - before > long_yield) gives_way_from = after + rest * (after - before);
}

}  // namespace sluice
