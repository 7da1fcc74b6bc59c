// Submissions that may not have been given, of all lines.
#pragma once

#include <algorithm>
#include <functional>
#include <utility>
#include <vector>

#include "megakernel/stream_key.hpp"
#include "runtime/stream/submissions.hpp"

namespace sluice::runtime {

// OnItsWay is one, of a window of these streams.
struct OnItsWay {
  Submissions* submissions = nullptr;
  Submissions::Ticket ticket = 0;
  std::vector<StreamKey> streams;
  void give() const noexcept { submissions->give_until(ticket); }
};

// OnTheirWay forgets what has been given. Not thread-safe.
class OnTheirWay {
 public:
  using Which = std::function<bool(const StreamKey& stream)>;

  void add(OnItsWay one) { all_.push_back(std::move(one)); }
  // of() is those of the streams that `which` holds of, in the order of their windows.
  std::vector<OnItsWay> of(const Which& which) {
    forget_given();
    std::vector<OnItsWay> found;
    for (const OnItsWay& one : all_)
      if (std::ranges::any_of(one.streams, which)) found.push_back(one);
    return found;
  }
  bool any() {
    forget_given();
    return !all_.empty();
  }

 private:
  void forget_given() {
    std::erase_if(all_, [](const OnItsWay& one) { return one.submissions->has_given(one.ticket); });
  }

  std::vector<OnItsWay> all_;
};

}  // namespace sluice::runtime
