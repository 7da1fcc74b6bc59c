// Done-flags of tasks and launches. They hold epochs, which only grow, so nothing is cleared.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <memory>

namespace sluice::megakernel {

// EpochFlags is an array of flags. A flag that shows the current window's epoch is set; whatever
// an earlier window left in its place is smaller, and so is the zero of a new array.
class EpochFlags {
 public:
  // open() makes room for `count` flags, while no worker is in a window. Where they are few each
  // has a cache line for itself: most are only of use to the worker that sets them, and would come
  // and go with those of their neighbours. Throws std::bad_alloc.
  void open(uint32_t count) {
    shift_ = 0;
    while (shift_ < line_shift && (size_t{count} << (shift_ + 1)) <= most_places)
      ++shift_;
    const size_t places = size_t{count} << shift_;
    if (places <= places_) return;
    const size_t grown = std::max(places, places_ + places_ / 2);
    flags_ = std::make_unique<std::atomic<uint64_t>[]>(grown);
    places_ = grown;
  }

  bool is_set(uint32_t index, uint64_t epoch) const { return place(index).load() == epoch; }
  void set(uint32_t index, uint64_t epoch) { place(index).store(epoch); }

 private:
  static constexpr unsigned line_shift = 3;  // flags of a line of 64 bytes
  // Flags that lie apart take a quarter of a worker's own cache at most.
  static constexpr size_t most_places = (size_t{256} << 10U) / sizeof(uint64_t);

  std::atomic<uint64_t>& place(uint32_t index) const { return flags_[size_t{index} << shift_]; }

  std::unique_ptr<std::atomic<uint64_t>[]> flags_;
  size_t places_ = 0;
  unsigned shift_ = 0;
};

// TaskCounter counts the finished tasks of one launch, for slaves that wait for all of them.
// `counting` is false where no slave of the window does, so that the others cost nothing.
struct alignas(64) TaskCounter {
  std::atomic<uint32_t> finished{0};
  uint32_t total = 0;
  bool counting = false;

  bool complete() const { return finished.load() == total; }
};

}  // namespace sluice::megakernel
