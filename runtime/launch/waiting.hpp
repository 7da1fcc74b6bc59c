// What a thread of the program waits for of Sluice's own work, and for how long.
#pragma once

#include <algorithm>
#include <chrono>
#include <future>

#include "runtime/background.hpp"
#include "runtime/device.hpp"
#include "runtime/gate.hpp"
#include "runtime/launch/lead.hpp"
#include "runtime/policy/policy.hpp"

namespace sluice::runtime {

// Waiting is that of the program's threads. What it costs is counted in the time that the work has
// a processor: where others have it, the program itself takes so much longer. While the device is
// busy with what the program has launched it spends the program's lead; while it is not, a launch
// is better given to it. Where the device's thread waits for the gate, with the end of a window for
// instance, its stream does nothing before this thread has left it.
struct Waiting {
  // Nanoseconds until the device is looked at again, which may have nothing to do for so long. To
  // look takes the thread some 3 of these 100 us.
  static constexpr int64_t look_again = 100'000;
  // Nanoseconds that work may take in all while a thread with an idle device waits for it: what has
  // not ended by then takes longer, mostly.
  static constexpr int64_t most_idle = 1'000'000;
  static constexpr int64_t overloaded = 2;  // waiting costs at least this part of its time

  Background& background;
  Policy& policy;
  Device& device;
  const Gate& gate;
  Lead& lead;

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
    for (;;) {
      const bool is_busy = is_beside(stream);
      if (!is_busy && background.is_long()) return false;
      const int64_t idle = std::min(policy.patience(), most_idle - background.at_work());
      const int64_t patience = is_busy ? look_again : idle;
      if (patience <= 0) return false;
      const int64_t began = policy.now();
      const int64_t before = background.spent();
      const bool has_ended = is_there(patience);
      const int64_t taken = std::max<int64_t>(1, policy.now() - began);
      if (is_busy && device.is_busy(stream)) {
        lead.spend(stream, taken);
      } else {
        const int64_t worked = background.spent() - before;
        lead.wait(std::max(std::min(taken, worked), taken / overloaded));
      }
      if (has_ended) return true;
    }
  }

  // waited() says that the program's thread has itself done what took so long, for a launch of this
  // stream.
  void waited(int64_t nanoseconds, const StreamKey& stream) const {
    if (is_beside(stream)) {
      lead.spend(stream, nanoseconds);
    } else {
      lead.wait(nanoseconds);
    }
  }

 private:
  bool is_beside(const StreamKey& stream) const {
    return lead.may_be_spent() && device.is_busy(stream) && !gate.is_wanted();
  }
};

}  // namespace sluice::runtime
