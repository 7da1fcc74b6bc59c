#include "megakernel/host/starvation.hpp"

#include <algorithm>
#include <utility>

namespace sluice::megakernel {
namespace {

// Of the time; less than that brings two workers further than one.
constexpr int bearable_part = 4;
// A processor that is lost once, to something that runs once, is no busy machine.
constexpr Starvation::Duration bearable = std::chrono::milliseconds(1);
// A time slice of another process lasts some milliseconds; in less nothing is seen of it.
constexpr Starvation::Duration first_alone = std::chrono::milliseconds(20);
constexpr Starvation::Duration most_alone = std::chrono::milliseconds(160);
// After so much a program's first blocks have been measured.
constexpr Starvation::Duration measuring = std::chrono::milliseconds(2);

}  // namespace

Starvation::Starvation(std::function<Time()> now, std::function<bool()> is_contended)
    : now_(std::move(now)), is_contended_(std::move(is_contended)) {}

bool Starvation::goes_alone(const std::function<bool()>& has_short_launches) {
  if (!is_alone()) return false;
  const std::lock_guard lock(mutex_);
  const Time now = now_();
  if (now < alone_until_) return true;
  const bool is_first = alone_until_ == Time::min();
  if (is_contended_() && (is_first || has_short_launches())) {
    leave_alone(now, is_first ? measuring : first_alone);
    return true;
  }
  alone_.store(false);
  return false;
}

void Starvation::lost(Duration time) {
  const std::lock_guard lock(mutex_);
  const Time now = now_();
  level_ = std::max(level_ - (now - last_lost_) / bearable_part, Duration(0)) + time;
  last_lost_ = now;
  if (level_ > bearable && !is_alone()) starve_at(now);
}

void Starvation::starve() {
  const std::lock_guard lock(mutex_);
  starve_at(now_());
}

void Starvation::starve_at(Time now) {
  const bool is_again = alone_until_ != Time::min() && now < alone_until_ + alone_for_;
  leave_alone(now, is_again ? std::min(2 * alone_for_, most_alone) : first_alone);
}

void Starvation::leave_alone(Time now, Duration time) {
  alone_for_ = time;
  alone_until_ = now + time;
  level_ = {};
  alone_.store(true);
}

}  // namespace sluice::megakernel
