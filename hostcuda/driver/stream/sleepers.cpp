#include "hostcuda/driver/stream/sleepers.hpp"

#include "hostcuda/driver/stream/stream_queue.hpp"

namespace sluice::hostcuda {

void Sleepers::sleep_until_done(const std::vector<Ticket>& tickets) {
  Sleeper self{tickets, {}};
  std::unique_lock lock(mutex_);
  sleepers_.push_back(&self);
  count_.fetch_add(1);
  self.all_done.wait(lock, [&] { return all_done(tickets); });
  count_.fetch_sub(1);
  std::erase(sleepers_, &self);
}

void Sleepers::wake() {
  // A sleeper counts itself before it looks for the last time, so either it sees this completion or
  // it is seen here.
  if (count_.load() == 0) return;
  const std::lock_guard lock(mutex_);
  for (Sleeper* sleeper : sleepers_) {
    if (all_done(sleeper->tickets)) sleeper->all_done.notify_one();
  }
}

}  // namespace sluice::hostcuda
