// Done-flags of tasks and launches. They hold epochs, which only grow, so nothing is cleared.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <memory>

namespace sluice::megakernel {

// EpochFlags is an array of flags. A flag that shows the current window's epoch is set; whatever
// an earlier window left in it is smaller, and so is the zero of a new array.
class EpochFlags {
 public:
  // reserve() makes room for `count` flags, while no worker is in a window. Throws
  // std::bad_alloc.
  void reserve(uint32_t count) {
    if (count <= count_) return;
    const uint32_t grown = std::max(count, count_ + count_ / 2);
    flags_ = std::make_unique<std::atomic<uint64_t>[]>(grown);
    count_ = grown;
  }

  bool is_set(uint32_t index, uint64_t epoch) const { return flags_[index].load() == epoch; }
  void set(uint32_t index, uint64_t epoch) { flags_[index].store(epoch); }

 private:
  std::unique_ptr<std::atomic<uint64_t>[]> flags_;
  uint32_t count_ = 0;
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
