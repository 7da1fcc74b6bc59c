#include "hostcuda/driver/thread_watch/thread_watch.hpp"

#include <algorithm>
#include <atomic>

namespace sluice::hostcuda {
namespace {

std::atomic<ThreadWatch*> the_thread_watch = nullptr;

}  // namespace

ThreadWatch* ThreadWatch::get() {
  return the_thread_watch.load(std::memory_order_acquire);
}

bool ThreadWatch::watch(const AllocationTable& memory, SluiceThreadTold told, void* data) {
  if (get() != nullptr) return false;
  the_thread_watch.store(new ThreadWatch(memory, told, data), std::memory_order_release);
  return true;
}

void ThreadWatch::tell(const SluiceThreadRace& race) {
  const std::lock_guard lock(mutex_);
  const auto line_of = [](const SluiceThreadAccess& access) {
    return access.file != nullptr ? access.line : access.ptx_line;
  };
  const auto [lower, upper] = std::minmax({line_of(race.accesses[0]), line_of(race.accesses[1])});
  const char* file = race.accesses[0].file != nullptr ? race.accesses[0].file : "";
  if (told_of_.emplace(race.kernel, file, lower, upper).second) told_(data_, &race);
}

}  // namespace sluice::hostcuda
