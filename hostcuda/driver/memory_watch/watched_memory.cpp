#include "hostcuda/driver/memory_watch/watched_memory.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

#include "hostcuda/memory/device_memory.hpp"

namespace sluice::hostcuda {
namespace {

constexpr size_t least_red_zone = 512, most_red_zone = 64 << 10;
// What is freed stays away for so long.
constexpr size_t most_freed_bytes = 256 << 20, most_freed = 4096;

}  // namespace

// An index that is wrong by a factor reaches as far as the buffer is long.
size_t WatchedMemory::red_zone(size_t bytes) const {
  return std::clamp(bytes, least_red_zone, most_red_zone);
}

void WatchedMemory::allocated(const Allocation& allocation) {
  auto made = std::make_shared<WatchedAllocation>(allocation, CallSite::of_this_call());
  const std::lock_guard lock(mutex_);
  live_[allocation.address] = std::move(made);
  all_ = nullptr;
}

bool WatchedMemory::released(const Allocation& allocation, size_t taken) {
  const std::lock_guard lock(mutex_);
  const auto found = live_.find(allocation.address);
  if (found == live_.end()) return false;
  found->second->is_freed.store(true, std::memory_order_release);
  all_ = nullptr;
  if (taken != 0) {
    freed_.push_back({found->second, taken});
    freed_bytes_ += taken;
  }
  live_.erase(found);
  while (freed_bytes_ > most_freed_bytes || freed_.size() > most_freed)
    give_back_oldest();
  return taken != 0;
}

void WatchedMemory::give_back_oldest() {
  const Kept& oldest = freed_.front();
  device_memory().free(reinterpret_cast<void*>(oldest.allocation->begin()), oldest.taken);
  freed_bytes_ -= oldest.taken;
  freed_.pop_front();
}

std::shared_ptr<const WatchedAllocations> WatchedMemory::all() const {
  const std::lock_guard lock(mutex_);
  if (all_ == nullptr) {
    auto made = std::make_shared<WatchedAllocations>();
    for (const auto& [address, allocation] : live_)
      made->push_back(allocation);
    for (const Kept& kept : freed_)
      made->push_back(kept.allocation);
    std::ranges::sort(*made, {}, [](const Shared& allocation) { return allocation->begin(); });
    all_ = std::move(made);
  }
  return all_;
}

std::shared_ptr<WatchedAllocation> WatchedMemory::freeing(uintptr_t address) {
  const CallSite site = CallSite::of_this_call();
  const std::lock_guard lock(mutex_);
  if (const auto found = live_.find(address); found != live_.end()) {
    WatchedAllocation& allocation = *found->second;
    if (allocation.freed_by.load() != 0) return found->second;
    allocation.freed = site;
    allocation.freed_by.store(next_call(), std::memory_order_release);
    return nullptr;
  }
  for (const Kept& kept : freed_)
    if (kept.allocation->begin() == address) return kept.allocation;
  return nullptr;
}

// write() marks what a copy from elsewhere writes, 0: from nowhere.
void WatchedMemory::write(uintptr_t begin, size_t count, uintptr_t from) {
  const auto known = all();
  const Shared* to = holder(*known, begin);
  if (to == nullptr || !(*to)->written || !(*to)->of.covers(begin, count)) return;
  const Shared* source = from != 0 ? holder(*known, from) : nullptr;
  const bool is_known =
      source != nullptr && (*source)->written && (*source)->of.covers(from, count);
  (*to)->written->copy(begin - (*to)->begin(), count, is_known ? &*(*source)->written : nullptr,
                       is_known ? from - (*source)->begin() : 0);
}

void WatchedMemory::copied(const Copy& copy) {
  for (size_t z = 0; z < copy.depth; ++z) {
    for (size_t y = 0; y < copy.height; ++y)
      write(copy.destination.address + z * copy.destination.slice + y * copy.destination.pitch,
            copy.width, copy.source.address + z * copy.source.slice + y * copy.source.pitch);
  }
}

void WatchedMemory::filled(const Fill& fill) {
  for (size_t y = 0; y < fill.height; ++y)
    write(fill.address + y * fill.pitch, fill.width * fill.element_bytes, 0);
}

void WatchedMemory::anything_written() {
  for (const Shared& allocation : *all())
    if (allocation->written) allocation->written->write(0, allocation->of.bytes);
}

const std::shared_ptr<WatchedAllocation>* holder(const WatchedAllocations& all, uintptr_t address) {
  const auto next = std::ranges::upper_bound(
      all, address, {}, [](const auto& allocation) { return allocation->begin(); });
  if (next == all.begin()) return nullptr;
  const auto& found = *std::prev(next);
  return address < found->end() ? &found : nullptr;
}

}  // namespace sluice::hostcuda
