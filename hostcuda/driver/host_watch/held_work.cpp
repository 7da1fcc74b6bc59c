#include "hostcuda/driver/host_watch/held_work.hpp"

#include <mutex>
#include <utility>

#include "base/thread/brief_lock.hpp"
#include "hostcuda/driver/host_watch/host_watch.hpp"
#include "hostcuda/driver/stream/engine.hpp"

namespace sluice::hostcuda {

void HeldWork::watch(HostWatch* watch) {
  const std::lock_guard lock(engine_.mutex_);
  engine_.order_.hold();
  watch_ = watch;
}

// What work submits, somebody may wait for who knows nothing of it.
Ticket HeldWork::submit(const std::shared_ptr<StreamQueue>& queue, SharedWork work,
                        std::vector<Ticket> after) {
  const bool begins = within_work() || work->may_wait_for_host();
  std::shared_ptr<HostWatch::Entry> entry = HostWatch::made(*work);
  Engine::Lock lock = lock_briefly_held(engine_.mutex_);
  if (work->takes_room()) engine_.wait_for_room(queue, lock);
  engine_.order_.order_before(*queue, after);
  const std::vector<Ticket> before = after;
  Ticket ticket = engine_.order_.add(queue, std::move(work), std::move(after));
  watch_->submitted(std::move(entry), ticket, before);
  lock.unlock();
  if (begins) want({ticket});
  return ticket;
}

bool HeldWork::want(const std::vector<Ticket>& tickets) {
  bool may_wait = false;
  const std::vector<Ticket> all = watch_->release(tickets, &may_wait);
  Engine::Lock lock = lock_briefly_held(engine_.mutex_);
  for (const Ticket& ticket : all)
    engine_.order_.want(ticket);
  for (size_t ready = engine_.order_.ready(); ready > 0; --ready) {
    if (!lock.owns_lock()) lock_briefly_held(lock);
    engine_.provide_thread(lock);
  }
  return !may_wait;
}

bool HeldWork::ask(const std::vector<Ticket>& tickets) {
  if (watch_ == nullptr) return all_done(tickets);
  const bool may_wait_for_it = want(tickets) && !within_work();
  if (may_wait_for_it) engine_.wait(tickets);
  const bool done = all_done(tickets);
  if (done) watch_->seen(tickets);
  return done;
}

bool HeldWork::run_unseen(const std::vector<Ticket>& tickets) {
  if (!want(tickets)) return false;
  engine_.sleepers_.sleep_until_done(tickets);
  return true;
}

}  // namespace sluice::hostcuda
