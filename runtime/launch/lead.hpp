// What a program loses when it waits while its device works.
#pragma once

#include <algorithm>
#include <cstdint>

#include "runtime/device.hpp"
#include "runtime/policy/policy.hpp"

namespace sluice::runtime {

// Lead is how far the program's threads are ahead of the device. A launch that waits for Sluice
// while the device works for its stream spends of it, and that costs nothing where the device still
// works when the program comes with its next call: the program would have waited later. Where the
// device has nothing left to do by then, what the program has done of its own meanwhile may have
// come so much later, and is charged. All its functions are called under the lock.
class Lead {
 public:
  // So many nanoseconds may be spent before anything shows what they cost: a device that waits for
  // the host gets nothing from it meanwhile.
  static constexpr int64_t most = 100'000'000;

  Lead(Device& device, Policy& policy) : device_(device), policy_(policy) {}

  bool may_be_spent() const { return spent_ < most && policy_.patience() > 0; }
  // spend() says that a launch of this stream has waited beside the device.
  void spend(const StreamKey& stream, int64_t nanoseconds) {
    spent_ += nanoseconds;
    stream_ = stream;
    since_ = policy_.now();
  }
  // wait() says that one has waited while the device had nothing to do.
  void wait(int64_t nanoseconds) {
    policy_.wait(nanoseconds);
    since_ = policy_.now();
  }
  // launches() is called at each launch before it is read, waits() at a call that may wait for the
  // device.
  void launches() {
    if (spent_ == 0) return;
    const int64_t now = policy_.now();
    if (!device_.is_busy(stream_)) {
      const int64_t lost = std::min(spent_, now - since_);
      policy_.wait(lost);
      spent_ -= lost;
    }
    since_ = now;
  }
  void waits() {
    launches();
    spent_ = 0;
  }

 private:
  Device& device_;
  Policy& policy_;
  StreamKey stream_;
  int64_t spent_ = 0;  // nanoseconds, that were not charged
  int64_t since_ = 0;
};

}  // namespace sluice::runtime
