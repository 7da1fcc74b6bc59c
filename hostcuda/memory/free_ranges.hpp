// The free parts of address ranges.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <utility>

namespace sluice::hostcuda {

// FreeRange is `bytes` bytes from `address` on.
struct FreeRange {
  uintptr_t address = 0;
  size_t bytes = 0;
};

// FreeRanges knows which addresses are free, and gives them out: from the smallest range that
// suffices and there from the lowest address on, so that what is given back and asked for again
// gets the same address. Not thread-safe.
class FreeRanges {
 public:
  // take() returns the address of `bytes` bytes at a multiple of `alignment`, a power of two;
  // nothing where no range has room.
  std::optional<uintptr_t> take(size_t bytes, size_t alignment);

  // give() makes a range free that was not, and returns the whole free range that it now is in.
  FreeRange give(FreeRange range);

  // remove() forgets a free range that give() returned.
  void remove(FreeRange range);

  // count_of_at_least() is how many free ranges are that large; it takes as many steps.
  size_t count_of_at_least(size_t bytes) const;

 private:
  void add(FreeRange range);

  std::map<uintptr_t, size_t> by_address_;           // bytes
  std::set<std::pair<size_t, uintptr_t>> by_bytes_;  // the same ranges
};

}  // namespace sluice::hostcuda
