// What a thread of the program waits for of Sluice's own work, and for how long.
#pragma once

#include <algorithm>
#include <chrono>
#include <future>

#include "runtime/background.hpp"
#include "runtime/device.hpp"
#include "runtime/gate.hpp"
#include "runtime/policy/policy.hpp"

namespace sluice::runtime {

// Waiting is that of the program's threads. What it costs is counted in the time that the work has
// a processor: where others have it, the program itself takes so much longer. While the device is
// busy with what the program has launched it costs little; while it is not, a launch is better
// given to it. Where the device's thread waits for the gate, with the end of a window for instance,
// its stream does nothing before this thread has left it.
struct Waiting {
  static constexpr int64_t look_again = 1'000'000;  // nanoseconds
  static constexpr int64_t most_idle = 1'000'000;   // of one launch, with an idle device
  static constexpr int64_t overloaded = 2;          // waiting costs at least this part of its time
  static constexpr int64_t device_works = 4;        // or this part of it while the device works

  Background& background;
  Policy& policy;
  Device& device;
  const Gate& gate;

  // for_end_of() waits for work in the background as long as the policy allows it now, for a launch
  // of this stream. It is whether the work has ended.
  template <class Answer>
  bool for_end_of(const std::future<Answer>& answer, const StreamKey& stream) const {
    const auto is_there = [&answer](int64_t nanoseconds) {
      return answer.wait_for(std::chrono::nanoseconds(nanoseconds)) == std::future_status::ready;
    };
    if (is_there(0)) return true;
    if (!policy.compares()) {
      answer.wait();
      return true;
    }
    int64_t idle = most_idle;
    while (!background.is_long()) {
      const bool is_busy = device.is_busy(stream) && !gate.is_wanted();
      const int64_t patience = std::min(policy.patience(), is_busy ? look_again : idle);
      if (patience <= 0) return false;
      const int64_t began = policy.now();
      const int64_t before = background.spent();
      const bool has_ended = is_there(patience);
      const int64_t taken = std::max<int64_t>(1, policy.now() - began);
      const int64_t worked = background.spent() - before;
      const int64_t lost = std::min(taken, worked) / (is_busy ? device_works : 1);
      policy.wait(std::max(lost, taken / (is_busy ? device_works : overloaded)));
      if (has_ended) return true;
      if (!is_busy) idle -= taken;
    }
    return false;
  }
};

}  // namespace sluice::runtime
