// What the blocks of a kernel cost, as workers measure it while they run them.
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>

namespace sluice::schedule {

// BlockCost is how long one block of a kernel takes, in nanoseconds: the median of the last
// measurements. What lengthens one of them (a lost processor, cold pages) is mostly no property of
// the kernel, and neither is what shortens one: blocks at the boundary of a grid often have nothing
// to do. Thread-safe: of measurements made at the same time one may get lost.
class BlockCost {
 public:
  // nanoseconds() is 0 where nothing was measured yet, and else at least 1.
  uint32_t nanoseconds() const { return nanoseconds_.load(std::memory_order_relaxed); }

  // wants_more() holds for the first measurements, of which one may be no measure: the first blocks
  // of a kernel find their code cold, and were seen to take eighty times as long as those after.
  bool wants_more() const { return notes_.load(std::memory_order_relaxed) < enough_notes; }

  void note(std::chrono::nanoseconds time, uint32_t blocks) {
    const uint64_t each = static_cast<uint64_t>(time.count()) / std::max(1U, blocks);
    const auto seen = static_cast<uint32_t>(std::clamp<uint64_t>(each, 1, UINT32_MAX / 2));
    const uint64_t number = notes_.fetch_add(1, std::memory_order_relaxed);
    last_[number % last_.size()].store(seen, std::memory_order_relaxed);
    std::array<uint32_t, kept_notes> sorted = {};
    size_t count = 0;
    for (const std::atomic<uint32_t>& note : last_) {
      if (const uint32_t value = note.load(std::memory_order_relaxed)) sorted[count++] = value;
    }
    const auto median = sorted.begin() + static_cast<std::ptrdiff_t>((count - 1) / 2);
    std::nth_element(sorted.begin(), median, sorted.begin() + static_cast<std::ptrdiff_t>(count));
    nanoseconds_.store(*median, std::memory_order_relaxed);
  }

 private:
  static constexpr uint64_t enough_notes = 8;
  static constexpr size_t kept_notes = 15;
  std::atomic<uint32_t> nanoseconds_{0};
  std::atomic<uint64_t> notes_{0};
  std::array<std::atomic<uint32_t>, kept_notes> last_ = {};  // 0: not yet
};

}  // namespace sluice::schedule
