// What following a kernel's launches may cost the program's thread.
#pragma once

#include <cstdint>

namespace sluice::runtime {

// FollowingBudget is what following launches that were not seen before has cost, in the tracker's
// steps (some 50 ns each), and what it may cost: so much from the start, so much for each launch
// and for its threads. It pays where launches repeat, or where they are long beside it. Counts,
// unlike times, are the same in every run. Not thread-safe.
class FollowingBudget {
 public:
  struct Limits {
    uint64_t to_start = 2'500'000;
    uint64_t for_a_launch = 16'384;
    uint64_t threads_for_a_step = 16;
  };

  // Where the governor sees to it that Sluice loses nothing: after the start, following may take
  // some hundredths of the time that the launches take. Those that are not followed earn too, so
  // that a kernel's launches are followed again in time.
  static constexpr Limits governed{
      .to_start = 400'000, .for_a_launch = 64, .threads_for_a_step = 4096};

  bool allows(const Limits& limits) const { return spent_ <= limits.to_start + earned_; }
  void spend(uint64_t steps) { spent_ += steps; }
  void earn(const Limits& limits, uint64_t threads) {
    earned_ += limits.for_a_launch + threads / limits.threads_for_a_step;
  }

 private:
  uint64_t spent_ = 0;
  uint64_t earned_ = 0;
};

}  // namespace sluice::runtime
