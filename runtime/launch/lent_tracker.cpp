#include "runtime/launch/lent_tracker.hpp"

#include <chrono>
#include <utility>

namespace sluice::runtime {

bool LentTracker::is_lent() {
  if (!away_.valid()) return false;
  if (away_.wait_for(std::chrono::seconds(0)) != std::future_status::ready) {
    background_.is_long();
    return true;
  }
  take_back();
  return false;
}

void LentTracker::lend(std::function<void(dro::DependenceTracker&)> work) {
  away_ = background_.run([this, work = std::move(work)] { work(tracker_); });
}

void LentTracker::wait() {
  if (!away_.valid()) return;
  away_.wait();
  take_back();
}

void LentTracker::take_back() {
  std::future<void> done = std::move(away_);
  auto inputs = std::exchange(later_, {});
  done.get();
  for (const auto& input : inputs)
    input(tracker_);
}

}  // namespace sluice::runtime
