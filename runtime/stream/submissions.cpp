#include "runtime/stream/submissions.hpp"

#include <utility>

namespace sluice::runtime {

void Submissions::add(std::function<void()> submission) {
  const std::lock_guard lock(mutex_);
  added_.push_back(std::move(submission));
  ++left_;
}

void Submissions::give() noexcept {
  while (any()) {
    const std::lock_guard one_by_one(giving_);
    std::list<std::function<void()>> next;
    {
      const std::lock_guard lock(mutex_);
      if (added_.empty()) return;
      next.splice(next.begin(), added_, added_.begin());
    }
    next.front()();
    --left_;
  }
}

}  // namespace sluice::runtime
