// A policy, and the launches of a phase that drive it, by a clock that the tests turn.
#pragma once

#include <atomic>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "runtime/policy/policy.hpp"

namespace sluice::runtime::testing {

using Way = Policy::Way;

// A measurement takes two launches of 100 ns.
inline constexpr Policy::Config quick{.first = 2000,
                                      .first_part = 0,
                                      .sample = 200,
                                      .samples = 3,
                                      .again = 10,
                                      .alone = UINT32_MAX,
                                      .alone_at_first = false};

inline std::atomic<int64_t> now{0};
inline int64_t read_clock() {
  return now;
}

// Phase drives a policy with launches that take so long, as tasks and plain.
struct Phase {
  explicit Phase(const Policy::Config& config = quick) : policy(config, read_clock) {}
  Way launch(Policy::Mark& kernel) {
    const bool is_aside = policy.is_aside(kernel, blocks);
    const Way way = is_aside ? Way::aside : policy.way(kernel, blocks);
    Policy::Sample sample;
    if (way == Way::tasks) policy.count(sample, kernel, 10, cost, 0);
    const auto plain = way == Way::plain ? policy.count_plain(kernel, 10, cost, 0) : std::nullopt;
    now += way == Way::tasks ? task_time : plain_time;
    if (way == Way::tasks) hear(policy.ended(way, sample));
    if (plain) hear(policy.ended(way, *plain));
    return way;
  }
  void hear(const std::optional<Policy::Verdict>& verdict) {
    if (verdict) verdicts.push_back(*verdict);
  }
  std::string launches(int count, Policy::Mark& kernel) {
    std::string ways;
    for (int i = 0; i < count; ++i)
      ways += "tpa"[static_cast<int>(launch(kernel))];
    return ways;
  }

  Policy policy;
  uint64_t blocks = 10;
  const schedule::BlockCost* cost = nullptr;
  int64_t task_time = 100;
  int64_t plain_time = 100;
  std::vector<Policy::Verdict> verdicts;
};

}  // namespace sluice::runtime::testing
