#include "runtime/stream/submissions.hpp"

#include <utility>

namespace sluice::runtime {

Submissions::Ticket Submissions::next() const {
  const std::lock_guard lock(mutex_);
  return given_ + added_.size() + (is_giving_ ? 2 : 1);
}

void Submissions::add(std::function<void()> submission) {
  const std::lock_guard lock(mutex_);
  added_.push_back(std::move(submission));
}

void Submissions::give_until(Ticket ticket) noexcept {
  std::unique_lock lock(mutex_);
  while (given_ < ticket && (is_giving_ || !added_.empty())) {
    if (is_giving_) {
      is_given_.wait(lock);
      continue;
    }
    is_giving_ = true;
    std::list<std::function<void()>> next;
    next.splice(next.begin(), added_, added_.begin());
    lock.unlock();
    next.front()();
    next.clear();
    lock.lock();
    is_giving_ = false;
    ++given_;
    is_given_.notify_all();
  }
}

bool Submissions::has_given(Ticket ticket) const {
  const std::lock_guard lock(mutex_);
  return given_ >= ticket;
}

}  // namespace sluice::runtime
