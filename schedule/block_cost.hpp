// What the blocks of a kernel cost, as workers measure it while they run them.
#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>

namespace sluice::schedule {

// BlockCost is how long one block of a kernel takes, in nanoseconds. It goes down at once and up
// slowly, since what lengthens a measurement (a lost processor, cold pages) is mostly no property
// of the kernel. Thread-safe: of measurements made at the same time one may get lost.
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
    const uint32_t known = nanoseconds();
    const uint32_t more = known + std::min(seen - std::min(seen, known), known) / 8;
    nanoseconds_.store(known == 0 || seen < known ? seen : more, std::memory_order_relaxed);
    if (wants_more()) notes_.fetch_add(1, std::memory_order_relaxed);
  }

 private:
  static constexpr uint32_t enough_notes = 8;
  std::atomic<uint32_t> nanoseconds_{0};
  std::atomic<uint32_t> notes_{0};
};

}  // namespace sluice::schedule
