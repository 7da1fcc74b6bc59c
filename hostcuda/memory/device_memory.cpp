#include "hostcuda/memory/device_memory.hpp"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <iterator>
#include <mutex>
#include <optional>

#include <sys/mman.h>

#include "base/number/divide_up.hpp"

namespace sluice::hostcuda {
namespace {

// Reserving costs addresses alone. On either side of a region, more than a 32-bit index of the
// largest vector (16 bytes) reaches stays empty.
constexpr size_t region_bytes = size_t{1} << 40;
constexpr size_t region_margin = size_t{1} << 36;

constexpr size_t chunk_with_margins = DeviceMemory::chunk_bytes + 2 * DeviceMemory::chunk_margin;
constexpr size_t page_bytes = 4096;
constexpr size_t huge_page_bytes = size_t{2} << 20;
// From here on, memory is worth huge pages.
constexpr size_t huge_page_threshold = 2 * huge_page_bytes;

// So many free chunks are kept for what is allocated next.
constexpr size_t most_kept_chunks = 4;

void* pointer(uintptr_t address) {
  return reinterpret_cast<void*>(address);
}

// reserve() is 0 where there is no room. With a place, what was mapped there is given back.
uintptr_t reserve(size_t bytes, uintptr_t place = 0) {
  const int where = place == 0 ? 0 : MAP_FIXED;
  void* mapped = mmap(pointer(place), bytes, PROT_NONE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | where, -1, 0);
  return mapped == MAP_FAILED ? 0 : reinterpret_cast<uintptr_t>(mapped);
}

// What memory of pages of its own takes of the addresses: whole guards' worth, with one behind.
size_t with_guard(size_t bytes) {
  return round_up(bytes, DeviceMemory::guard_bytes) + DeviceMemory::guard_bytes;
}

size_t alignment_for(size_t bytes) {
  return bytes >= huge_page_threshold ? huge_page_bytes : DeviceMemory::guard_bytes;
}

}  // namespace

DeviceMemory::~DeviceMemory() {
  for (const auto& [address, region] : regions_)
    munmap(pointer(address), region.bytes);
}

// Where addresses are limited (RLIMIT_AS), a region is only what is needed now, and it is given
// back as soon as it is free.
bool DeviceMemory::reserve_for(size_t bytes) {
  const size_t needed = with_guard(bytes) + alignment_for(bytes);
  size_t margin = region_margin;
  size_t whole = region_bytes;
  uintptr_t start = needed <= region_bytes - 2 * region_margin ? reserve(whole) : 0;
  const bool is_lasting = start != 0;
  if (!is_lasting) {
    margin = guard_bytes;
    whole = needed + 3 * guard_bytes;
    start = reserve(whole);
  }
  if (start == 0) return false;
  const uintptr_t first = round_up(start + margin, guard_bytes);
  const FreeRange usable = free_pages_.give({first, start + whole - margin - first});
  regions_[start] = {whole, usable.bytes, is_lasting};
  return true;
}

uintptr_t DeviceMemory::allocate_pages(size_t bytes) {
  const size_t taken = with_guard(bytes);
  std::optional<uintptr_t> address = free_pages_.take(taken, alignment_for(bytes));
  if (!address && reserve_for(bytes)) address = free_pages_.take(taken, alignment_for(bytes));
  if (!address) return 0;
  const size_t accessible = round_up(bytes, page_bytes);
  if (mprotect(pointer(*address), accessible, PROT_READ | PROT_WRITE) != 0) {
    give_pages({*address, taken});
    return 0;
  }
  // A hint: where the kernel refuses it, small pages serve as well.
  if (bytes >= huge_page_threshold) madvise(pointer(*address), accessible, MADV_HUGEPAGE);
  committed_ += accessible;
  return *address;
}

void DeviceMemory::free_pages(uintptr_t address, size_t bytes) {
  const size_t accessible = round_up(bytes, page_bytes);
  // Where the kernel has no room for one more mapping, the pages stay accessible; they are zero
  // again all the same.
  if (reserve(accessible, address) == 0) madvise(pointer(address), accessible, MADV_DONTNEED);
  committed_ -= accessible;
  give_pages({address, with_guard(bytes)});
}

void DeviceMemory::give_pages(FreeRange range) {
  const FreeRange free = free_pages_.give(range);
  const auto region = std::prev(regions_.upper_bound(range.address));
  if (region->second.is_lasting || free.bytes != region->second.usable) return;
  free_pages_.remove(free);
  munmap(pointer(region->first), region->second.bytes);
  regions_.erase(region);
}

bool DeviceMemory::add_chunk() {
  const uintptr_t start = allocate_pages(chunk_with_margins);
  if (start == 0) return false;
  free_granules_.give({start + chunk_margin, chunk_bytes});
  return true;
}

uintptr_t DeviceMemory::allocate_granules(size_t bytes, size_t alignment) {
  std::optional<uintptr_t> address = free_granules_.take(bytes, alignment);
  if (!address && add_chunk()) address = free_granules_.take(bytes, alignment);
  return address.value_or(0);
}

void DeviceMemory::free_granules(uintptr_t address, size_t bytes) {
  const FreeRange free = free_granules_.give({address, bytes});
  if (free.bytes != chunk_bytes) return;
  if (free_granules_.count_of_at_least(chunk_bytes) <= most_kept_chunks) return;
  free_granules_.remove(free);
  free_pages(free.address - chunk_margin, chunk_with_margins);
}

void* DeviceMemory::allocate(size_t bytes, size_t alignment) {
  if (bytes > SIZE_MAX / 2) return nullptr;
  const size_t rounded = round_up(std::max<size_t>(bytes, 1), granule);
  const bool is_small = rounded < own_mapping_threshold;
  uintptr_t address = 0;
  {
    const std::lock_guard lock(mutex_);
    address = is_small ? allocate_granules(rounded, alignment) : allocate_pages(rounded);
  }
  if (address == 0) return nullptr;
  // The first memory that a program gets of a GPU is zero, and programs have come to rely on it.
  if (is_small) std::memset(pointer(address), 0, rounded);
  return pointer(address);
}

void DeviceMemory::free(void* memory, size_t bytes) {
  const size_t rounded = round_up(std::max<size_t>(bytes, 1), granule);
  const auto address = reinterpret_cast<uintptr_t>(memory);
  const std::lock_guard lock(mutex_);
  if (rounded < own_mapping_threshold) {
    free_granules(address, rounded);
  } else {
    free_pages(address, rounded);
  }
}

bool DeviceMemory::holds(uintptr_t address) const {
  const std::lock_guard lock(mutex_);
  const auto next = regions_.upper_bound(address);
  if (next == regions_.begin()) return false;
  const auto region = std::prev(next);
  return address - region->first < region->second.bytes;
}

size_t DeviceMemory::committed_bytes() const {
  const std::lock_guard lock(mutex_);
  return committed_;
}

DeviceMemory& device_memory() {
  // ThreadSanitizer, which this module is built without, knows of std::call_once and not of the
  // guard of a local static.
  static std::once_flag once;
  static DeviceMemory* memory = nullptr;
  std::call_once(once, [] { memory = new DeviceMemory; });
  return *memory;
}

}  // namespace sluice::hostcuda
