#include "hostcuda/driver/memory/allocation_table.hpp"

#include <iterator>
#include <mutex>

#include "base/number/divide_up.hpp"
#include "hostcuda/memory/device_memory.hpp"

namespace sluice::hostcuda {
namespace {

bool counts_as_device_memory(MemoryKind kind) {
  return kind == MemoryKind::device || kind == MemoryKind::managed || kind == MemoryKind::array;
}

bool is_owned_by_table(MemoryKind kind) {
  return counts_as_device_memory(kind) || kind == MemoryKind::host;
}

}  // namespace

const char* kind_text(MemoryKind kind) {
  switch (kind) {
    case MemoryKind::managed:
      return "managed memory";
    case MemoryKind::host:
      return "pinned memory";
    case MemoryKind::registered:
      return "registered memory";
    case MemoryKind::variable:
      return "a variable";
    case MemoryKind::array:
      return "an array";
    default:
      return "device memory";
  }
}

// taken_bytes() is what an allocation takes of the device's memory.
size_t AllocationTable::taken_bytes(MemoryKind kind, size_t bytes) const {
  const bool is_huge = bytes >= SIZE_MAX / 2;
  const bool has_pages =
      keeps_pages_apart_ && !is_huge && (kind == MemoryKind::managed || kind == MemoryKind::host);
  const size_t red_zone = listener_ != nullptr && !is_huge ? listener_->red_zone(bytes) : 0;
  return has_pages ? round_up(bytes + red_zone, page_bytes) : bytes + red_zone;
}

std::optional<uintptr_t> AllocationTable::allocate(MemoryKind kind, size_t bytes, unsigned flags,
                                                   const void* owner) {
  const std::unique_lock lock(mutex_);
  const size_t limit = counts_as_device_memory(kind) ? capacity_ - used_ : capacity_;
  if (bytes > limit) return std::nullopt;
  void* memory = device_memory().allocate(taken_bytes(kind, bytes),
                                          keeps_pages_apart_ ? page_bytes : DeviceMemory::granule);
  if (memory == nullptr) return std::nullopt;
  const auto address = reinterpret_cast<uintptr_t>(memory);
  const Allocation made = {address, bytes, kind, flags, owner, ++last_id_};
  allocations_[address] = made;
  if (listener_ != nullptr) listener_->allocated(made);
  if (counts_as_device_memory(kind)) used_ += bytes;
  return address;
}

bool AllocationTable::overlaps(uintptr_t address, size_t bytes) const {
  const auto next = allocations_.lower_bound(address);
  if (next != allocations_.end() && next->first - address < bytes) return true;
  if (next == allocations_.begin()) return false;
  const Allocation& before = std::prev(next)->second;
  return address - before.address < before.bytes;
}

bool AllocationTable::add(const Allocation& allocation) {
  const std::unique_lock lock(mutex_);
  if (overlaps(allocation.address, allocation.bytes)) return false;
  Allocation& entry = allocations_[allocation.address];
  entry = allocation;
  entry.id = ++last_id_;
  if (listener_ != nullptr) listener_->allocated(entry);
  return true;
}

std::optional<Allocation> AllocationTable::find(uintptr_t address) const {
  const std::shared_lock lock(mutex_);
  const auto next = allocations_.upper_bound(address);
  if (next == allocations_.begin()) return std::nullopt;
  const Allocation& candidate = std::prev(next)->second;
  if (!candidate.covers(address, 1)) return std::nullopt;
  return candidate;
}

AllocationTable::Map::iterator AllocationTable::erase(Map::iterator place) {
  const Allocation& allocation = place->second;
  if (counts_as_device_memory(allocation.kind)) used_ -= allocation.bytes;
  const bool is_owned = is_owned_by_table(allocation.kind);
  const size_t taken = is_owned ? taken_bytes(allocation.kind, allocation.bytes) : 0;
  const bool is_kept = listener_ != nullptr && listener_->released(allocation, taken);
  if (is_owned && !is_kept)
    device_memory().free(reinterpret_cast<void*>(allocation.address), taken);
  return allocations_.erase(place);
}

bool AllocationTable::release(uintptr_t address, MemoryKind kind) {
  const std::unique_lock lock(mutex_);
  const auto place = allocations_.find(address);
  if (place == allocations_.end() || place->second.kind != kind) return false;
  erase(place);
  return true;
}

void AllocationTable::release_owned_by(const void* owner) {
  const std::unique_lock lock(mutex_);
  for (auto next = allocations_.begin(); next != allocations_.end();) {
    next = next->second.owner == owner ? erase(next) : std::next(next);
  }
}

size_t AllocationTable::used() const {
  const std::shared_lock lock(mutex_);
  return used_;
}

}  // namespace sluice::hostcuda
