#include "hostcuda/memory/free_ranges.hpp"

#include <iterator>

#include "base/number/divide_up.hpp"

namespace sluice::hostcuda {

void FreeRanges::add(FreeRange range) {
  if (range.bytes == 0) return;
  by_address_.emplace(range.address, range.bytes);
  by_bytes_.emplace(range.bytes, range.address);
}

void FreeRanges::remove(FreeRange range) {
  by_address_.erase(range.address);
  by_bytes_.erase({range.bytes, range.address});
}

std::optional<uintptr_t> FreeRanges::take(size_t bytes, size_t alignment) {
  for (auto next = by_bytes_.lower_bound({bytes, 0}); next != by_bytes_.end(); ++next) {
    const FreeRange free{next->second, next->first};
    const uintptr_t address = round_up(free.address, alignment);
    const size_t before = address - free.address;
    if (before > free.bytes - bytes) continue;
    remove(free);
    add({free.address, before});
    add({address + bytes, free.bytes - before - bytes});
    return address;
  }
  return std::nullopt;
}

FreeRange FreeRanges::give(FreeRange range) {
  const auto next = by_address_.lower_bound(range.address);
  if (next != by_address_.begin()) {
    const auto [address, bytes] = *std::prev(next);
    if (address + bytes == range.address) {
      remove({address, bytes});
      range = {address, bytes + range.bytes};
    }
  }
  const auto behind = by_address_.find(range.address + range.bytes);
  if (behind != by_address_.end()) {
    const FreeRange free{behind->first, behind->second};
    remove(free);
    range.bytes += free.bytes;
  }
  add(range);
  return range;
}

size_t FreeRanges::count_of_at_least(size_t bytes) const {
  return static_cast<size_t>(std::distance(by_bytes_.lower_bound({bytes, 0}), by_bytes_.end()));
}

}  // namespace sluice::hostcuda
