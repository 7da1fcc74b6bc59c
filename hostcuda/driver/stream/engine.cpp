#include "hostcuda/driver/stream/engine.hpp"

#include <algorithm>
#include <exception>
#include <system_error>
#include <utility>

#include "base/brief_lock.hpp"
#include "base/log.hpp"
#include "hostcuda/driver/stream/threads.hpp"
#include "hostcuda/jit/library/device_printf.hpp"

namespace sluice::hostcuda {
namespace {

thread_local bool runs_work = false;

// Threads beyond this many are a program's mistake, and work then waits for one to come back.
constexpr unsigned most_threads = 512;

bool all_done(const std::vector<Ticket>& tickets) {
  return std::all_of(tickets.begin(), tickets.end(), [](const Ticket& t) { return t.is_done(); });
}

}  // namespace

Engine::Engine(unsigned workers)
    : pool_(workers),
      most_computing_(std::max(2u, workers)),
      legacy_(make_queue(QueueKind::legacy, least_stream_priority)) {}

bool Engine::within_work() {
  return runs_work;
}

std::shared_ptr<StreamQueue> Engine::make_queue(QueueKind kind, int priority) {
  return std::make_shared<StreamQueue>(
      kind, std::clamp(priority, greatest_stream_priority, least_stream_priority));
}

Ticket Engine::submit(const std::shared_ptr<StreamQueue>& queue, std::function<void()> work) {
  return submit(queue, std::make_shared<const FunctionWork>(std::move(work)));
}

Ticket Engine::submit(const std::shared_ptr<StreamQueue>& queue, SharedWork work,
                      std::vector<Ticket> after) {
  Lock lock = lock_briefly_held(mutex_);
  add_legacy_order(*queue, after);
  return enqueue(queue, std::move(work), std::move(after), lock);
}

Ticket Engine::submit_instant(const std::shared_ptr<StreamQueue>& queue,
                              std::function<void()> work) {
  Lock lock = lock_briefly_held(mutex_);
  std::vector<Ticket> after;
  add_legacy_order(*queue, after);
  if (!queue->items_.empty() || !all_done(after)) {
    return enqueue(queue, std::make_shared<const FunctionWork>(std::move(work)), std::move(after),
                   lock);
  }
  const uint64_t number = queue->submitted_.load() + 1;
  queue->submitted_.store(number);
  work();
  queue->completed_.store(number);
  return {queue, number};
}

Ticket Engine::enqueue(const std::shared_ptr<StreamQueue>& queue, SharedWork work,
                       std::vector<Ticket> after, Lock& lock) {
  const uint64_t number = queue->submitted_.load() + 1;
  const bool was_empty = queue->items_.empty();
  if (was_empty) busy_.push_back(queue);
  queue->items_.push_back({std::move(work), std::move(after)});
  queue->submitted_.store(number);
  if (was_empty) make_ready_or_wait(*queue);
  provide_thread(lock);
  return {queue, number};
}

void Engine::add_legacy_order(StreamQueue& queue, std::vector<Ticket>& after) {
  if (queue.kind_ == QueueKind::blocking) {
    const uint64_t last = legacy_->submitted_.load();
    if (std::exchange(queue.after_legacy_, last) != last && !legacy_->is_done(last)) {
      after.push_back({legacy_, last});
    }
  } else if (queue.kind_ == QueueKind::legacy) {
    for (const std::shared_ptr<StreamQueue>& other : busy_) {
      if (other->kind_ != QueueKind::blocking) continue;
      const uint64_t last = other->submitted_.load();
      if (std::exchange(other->before_legacy_, last) != last) after.push_back({other, last});
    }
  }
}

// The first item of a queue waits with its queue's entry in one other queue at a time.
void Engine::make_ready_or_wait(StreamQueue& queue) {
  std::vector<Ticket>& after = queue.items_.front().after;
  while (!after.empty()) {
    const Ticket& ticket = after.back();
    if (!ticket.is_done()) {
      ticket.queue->waiters_.push_back({ticket.number, &queue});
      return;
    }
    after.pop_back();
  }
  push_ready(queue);
}

void Engine::push_ready(StreamQueue& queue) {
  ready_[static_cast<size_t>(queue.priority_ - greatest_stream_priority)].push_back(&queue);
  ready_count_.fetch_add(1);
}

StreamQueue* Engine::pop_ready() {
  for (std::deque<StreamQueue*>& level : ready_) {
    if (level.empty()) continue;
    StreamQueue* queue = level.front();
    level.pop_front();
    ready_count_.fetch_sub(1);
    return queue;
  }
  return nullptr;
}

// provide_thread() sees to it that ready work finds a thread. Whoever looks for work takes one
// piece of it, and counts as looking until it wakes: work of another stream, which the first may
// wait for, needs a thread of its own.
void Engine::provide_thread(Lock& lock) {
  const size_t ready = ready_count_.load();
  // One that spins sees the work by itself.
  const size_t spinners = somebody_spins_ ? 1 : 0;
  if (ready <= spinners) return;
  if (looking_ >= ready) {
    lock.unlock();
    work_is_ready_.notify_one();
    return;
  }
  if (looking_ > spinners) work_is_ready_.notify_one();
  if (threads_ - calling_program_ >= most_computing_ || threads_ >= most_threads) return;
  ++threads_;
  try {
    start_daemon_thread("sluice-cuda", [this] { serve(); });
  } catch (const std::system_error&) {
    // Without any thread the work would never run; with one it only runs later.
    if (--threads_ == 0) throw;
  }
}

void Engine::serve() {
  runs_work = true;
  Lock lock(mutex_);
  for (;;) {
    StreamQueue* queue = pop_ready();
    if (queue == nullptr) {
      sleep_until_ready(lock);
    } else {
      run_first(*queue, lock);
    }
  }
}

void Engine::sleep_until_ready(Lock& lock) {
  ++looking_;
  if (!std::exchange(somebody_spins_, true)) {
    lock.unlock();
    spin_until([&] { return ready_count_.load() != 0; });
    lock_briefly_held(lock);
    somebody_spins_ = false;
  }
  while (ready_count_.load() == 0)
    work_is_ready_.wait(lock);
  --looking_;
}

void Engine::run_first(StreamQueue& queue, Lock& lock) {
  SharedWork work = std::move(queue.items_.front().work);
  const bool calls_program = work->calls_the_program();
  if (calls_program) {
    ++calling_program_;
    provide_thread(lock);
  }
  if (lock.owns_lock()) lock.unlock();
  run(*work);
  // What the work holds (code, staging memory) is gone before anyone hears that it is done.
  work.reset();
  lock_briefly_held(lock);
  if (calls_program) --calling_program_;
  complete_first(queue);
  if (ready_count_.load() > 1) {
    provide_thread(lock);
    if (!lock.owns_lock()) lock_briefly_held(lock);
  }
}

void Engine::run(const Work& work) {
  CUresult result = CUDA_ERROR_LAUNCH_FAILED;
  try {
    result = work.run(pool_);
  } catch (const std::exception& exception) {
    log::error("work of the device ended with an exception: {}", exception.what());
  } catch (...) {
    log::error("work of the device ended with an exception");
  }
  if (result != CUDA_SUCCESS) {
    CUresult none = CUDA_SUCCESS;
    error_.compare_exchange_strong(none, result);
  }
}

void Engine::complete_first(StreamQueue& queue) {
  queue.items_.pop_front();
  queue.completed_.fetch_add(1);
  const uint64_t completed = queue.completed_.load();
  std::vector<StreamQueue*> released;
  std::erase_if(queue.waiters_, [&](const StreamQueue::Waiter& waiter) {
    if (waiter.number > completed) return false;
    released.push_back(waiter.queue);
    return true;
  });
  for (StreamQueue* waiter : released)
    make_ready_or_wait(*waiter);
  if (!queue.items_.empty()) {
    make_ready_or_wait(queue);
    publish_completion();
    return;
  }
  const auto place = std::find_if(busy_.begin(), busy_.end(),
                                  [&](const auto& entry) { return entry.get() == &queue; });
  const std::shared_ptr<StreamQueue> keep = std::move(*place);
  *place = std::move(busy_.back());
  busy_.pop_back();
  publish_completion();
}

void Engine::publish_completion() {
  // A sleeper counts itself before it looks for the last time, so either it sees this completion or
  // it is seen here.
  if (sleeper_count_.load() == 0) return;
  const std::lock_guard lock(completion_mutex_);
  for (Sleeper* sleeper : sleepers_) {
    if (all_done(sleeper->tickets)) sleeper->all_done.notify_one();
  }
}

std::vector<Ticket> Engine::before(const std::shared_ptr<StreamQueue>& queue) {
  const std::lock_guard lock(mutex_);
  std::vector<Ticket> tickets{last_of(queue)};
  for (const std::shared_ptr<StreamQueue>& other : busy_) {
    const bool ordered = queue->kind_ == QueueKind::legacy
                             ? other->kind_ == QueueKind::blocking
                             : queue->kind_ == QueueKind::blocking && other == legacy_;
    if (ordered) tickets.push_back(last_of(other));
  }
  return tickets;
}

std::vector<Ticket> Engine::outstanding() {
  const std::lock_guard lock(mutex_);
  std::vector<Ticket> tickets;
  for (const std::shared_ptr<StreamQueue>& queue : busy_)
    tickets.push_back(last_of(queue));
  return tickets;
}

CUresult Engine::wait(const Ticket& ticket) {
  return wait(std::vector<Ticket>{ticket});
}

CUresult Engine::wait(const std::vector<Ticket>& tickets) {
  const auto done = [&] { return all_done(tickets); };
  if (runs_work && !done()) return CUDA_ERROR_NOT_PERMITTED;
  if (!spin_until(done)) sleep_until_done(tickets);
  flush_device_output();
  return error();
}

void Engine::sleep_until_done(const std::vector<Ticket>& tickets) {
  Sleeper self{tickets, {}};
  Lock lock(completion_mutex_);
  sleepers_.push_back(&self);
  sleeper_count_.fetch_add(1);
  self.all_done.wait(lock, [&] { return all_done(tickets); });
  sleeper_count_.fetch_sub(1);
  std::erase(sleepers_, &self);
}

}  // namespace sluice::hostcuda
