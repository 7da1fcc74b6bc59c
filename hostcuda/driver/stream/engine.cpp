#include "hostcuda/driver/stream/engine.hpp"

#include <algorithm>
#include <chrono>
#include <exception>
#include <system_error>
#include <utility>

#include "base/log.hpp"
#include "base/processors.hpp"
#include "base/thread/brief_lock.hpp"
#include "hostcuda/driver/host_watch/host_watch.hpp"
#include "hostcuda/driver/stream/threads.hpp"
#include "hostcuda/jit/library/device_printf.hpp"

namespace sluice::hostcuda {
namespace {

thread_local bool runs_work = false;
thread_local bool never_waits_for_room = false;

// A thread that waits for room is woken when this much of it is there, or looks by itself: woken at
// the end of each operation, it would take the processor from the next.
constexpr size_t room_to_wake_for = 64;
constexpr std::chrono::milliseconds look_for_room{1};

// Threads beyond this many are a program's mistake, and work then waits for one to come back.
constexpr unsigned most_threads = 512;

// result_of() runs the work; `watch` is null where the host is not watched.
CUresult result_of(const StreamQueue& queue, const Work& work, BlockPool& pool, HostWatch* watch) {
  try {
    return watch == nullptr ? work.run(pool) : watch->run(queue, work, pool);
  } catch (const std::exception& exception) {
    log::error("work of the device ended with an exception: {}", exception.what());
  } catch (...) {
    log::error("work of the device ended with an exception");
  }
  return CUDA_ERROR_LAUNCH_FAILED;
}

}  // namespace

Engine::Engine(BlockPool& pool) : pool_(pool), most_computing_(std::max(2u, pool.workers())) {}

bool within_work() {
  return runs_work;
}

void Engine::never_wait_for_room(bool never) {
  never_waits_for_room = never;
}

void Engine::wait_for_room(const std::shared_ptr<StreamQueue>& queue, Lock& lock) {
  if (StreamOrder::room(*queue) > 0 || runs_work || never_waits_for_room) return;
  if (held_.is_watched()) {
    lock.unlock();
    held_.want({last_of(queue)});
    lock_briefly_held(lock);
  }
  ++room_.waiting;
  while (StreamOrder::room(*queue) == 0)
    room_.made.wait_for(lock, look_for_room);
  --room_.waiting;
}

Ticket Engine::submit(const std::shared_ptr<StreamQueue>& queue, std::function<void()> work) {
  return submit(queue, std::make_shared<const FunctionWork>(std::move(work)));
}

Ticket Engine::submit(const std::shared_ptr<StreamQueue>& queue, SharedWork work,
                      std::vector<Ticket> after) {
  if (held_.is_watched()) return held_.submit(queue, std::move(work), std::move(after));
  Lock lock = lock_briefly_held(mutex_);
  if (work->takes_room()) wait_for_room(queue, lock);
  order_.order_before(*queue, after);
  Ticket ticket = order_.add(queue, std::move(work), std::move(after));
  spinning_.submitter = current_processor();
  provide_thread(lock);
  return ticket;
}

Ticket Engine::submit_instant(const std::shared_ptr<StreamQueue>& queue,
                              std::function<void()> work) {
  // Held work may stand before it, also such as has run and that nobody has seen.
  if (held_.is_watched()) return submit(queue, std::move(work));
  Lock lock = lock_briefly_held(mutex_);
  wait_for_room(queue, lock);
  std::vector<Ticket> after;
  order_.order_before(*queue, after);
  if (all_done(after) && StreamOrder::complete_instantly(*queue, work)) return last_of(queue);
  Ticket ticket =
      order_.add(queue, std::make_shared<const FunctionWork>(std::move(work)), std::move(after));
  provide_thread(lock);
  return ticket;
}

void Engine::keep(const Ticket& promise) {
  {
    Lock lock = lock_briefly_held(mutex_);
    order_.keep(*promise.queue);
    provide_thread(lock);
  }
  sleepers_.wake();
}

// provide_thread() sees to it that ready work finds a thread. Whoever looks for work takes one
// piece of it, and counts as looking until it wakes: work of another stream, which the first may
// wait for, needs a thread of its own.
void Engine::provide_thread(Lock& lock) {
  const size_t ready = order_.ready();
  // One that spins sees the work by itself.
  const size_t spinners = spinning_.is_there ? 1 : 0;
  if (ready <= spinners) return;
  if (looking_ >= ready) {
    lock.unlock();
    work_is_ready_.notify_one();
    return;
  }
  if (looking_ > spinners) work_is_ready_.notify_one();
  if (threads_ - calling_program_ >= most_computing_ || threads_ >= most_threads) return;
  ++threads_;
  if (resting_.called < resting_.threads) {
    ++resting_.called;
    resting_.is_over.notify_one();
    return;
  }
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
    if (threads_ - calling_program_ > most_computing_) rest(lock);
    StreamQueue* queue = order_.take();
    if (queue == nullptr) {
      sleep_until_ready(lock);
    } else {
      run_first(*queue, lock);
    }
  }
}

// Whoever comes back from the program leaves its work to those who took its place meanwhile.
void Engine::rest(Lock& lock) {
  --threads_;
  ++resting_.threads;
  provide_thread(lock);
  if (!lock.owns_lock()) lock_briefly_held(lock);
  resting_.is_over.wait(lock, [&] { return resting_.called > 0; });
  --resting_.called;
  --resting_.threads;
}

void Engine::sleep_until_ready(Lock& lock) {
  ++looking_;
  if (!std::exchange(spinning_.is_there, true)) {
    const int submitter = spinning_.submitter;
    lock.unlock();
    // Who submits the next work mostly waits for it: on one processor they would take turns.
    if (current_processor() == submitter) move_away({&submitter, 1});
    spin_until([&] { return order_.ready() != 0; });
    lock_briefly_held(lock);
    spinning_.is_there = false;
  }
  while (order_.ready() == 0)
    work_is_ready_.wait(lock);
  --looking_;
}

void Engine::run_first(StreamQueue& queue, Lock& lock) {
  SharedWork work = StreamOrder::start_first(queue);
  const bool calls_program = work->calls_the_program();
  if (calls_program) {
    ++calling_program_;
    provide_thread(lock);
  }
  if (lock.owns_lock()) lock.unlock();
  if (calls_program) functions_.wait();
  const CUresult result = result_of(queue, *work, pool_, held_.host_watch());
  if (result != CUDA_SUCCESS) {
    CUresult none = CUDA_SUCCESS;
    error_.compare_exchange_strong(none, result);
  }
  // What the work holds (code, staging memory) is gone before anyone hears that it is done.
  work.reset();
  lock_briefly_held(lock);
  if (calls_program) --calling_program_;
  order_.complete_first(queue);
  if (room_.waiting > 0 && StreamOrder::room(queue) == room_to_wake_for) room_.made.notify_all();
  sleepers_.wake();
  if (order_.ready() > 1) {
    provide_thread(lock);
    if (!lock.owns_lock()) lock_briefly_held(lock);
  }
}

std::vector<Ticket> Engine::before(const std::shared_ptr<StreamQueue>& queue) {
  const Lock lock = lock_briefly_held(mutex_);
  std::vector<Ticket> tickets = order_.before(queue);
  if (held_.is_watched()) held_.host_watch()->add_unseen(queue.get(), tickets);
  return tickets;
}

std::vector<Ticket> Engine::outstanding() {
  const Lock lock = lock_briefly_held(mutex_);
  std::vector<Ticket> tickets = order_.outstanding();
  if (held_.is_watched()) held_.host_watch()->add_unseen(nullptr, tickets);
  return tickets;
}

CUresult Engine::wait(const Ticket& ticket) {
  return wait(std::vector<Ticket>{ticket});
}

CUresult Engine::wait(const std::vector<Ticket>& tickets) {
  const auto done = [&] { return all_done(tickets); };
  if (held_.is_watched()) held_.want(tickets);
  if (runs_work && !done()) return CUDA_ERROR_NOT_PERMITTED;
  functions_.somebody_waits();
  if (!spin_until(done)) sleepers_.sleep_until_done(tickets);
  if (held_.is_watched()) held_.host_watch()->seen(tickets);
  flush_device_output();
  return error();
}

}  // namespace sluice::hostcuda
