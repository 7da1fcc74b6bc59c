#include "megakernel/host/team.hpp"

#include <algorithm>
#include <system_error>
#include <utility>

#include <pthread.h>

#include "base/processors.hpp"
#include "base/thread/signals_blocked.hpp"

namespace sluice::megakernel {

Team::Team(uint32_t workers, std::function<void(uint32_t)> work)
    : workers_(workers), work_(std::move(work)) {}

Team::~Team() {
  stopping_.store(true);
  changed_.notify();
  for (std::thread& thread : threads_)
    thread.join();
}

void Team::start() {
  const SignalsBlocked blocked;
  for (uint32_t worker = 1; worker < workers_; ++worker) {
    try {
      threads_.emplace_back([this, worker] { thread_main(worker); });
    } catch (const std::system_error&) {
      return;  // Any number of workers is enough, and the calling thread is always one.
    }
  }
}

void Team::thread_main(uint32_t worker) {
  pthread_setname_np(pthread_self(), "sluice-worker");
  uint64_t seen = 0;
  for (;;) {
    changed_.wait([&] { return stopping_.load() || calls_.load() != seen; });
    if (stopping_.load()) return;
    seen = calls_.load();
    if (!join()) continue;
    work_(worker);
    left_.fetch_add(1);
    changed_.notify();
  }
}

bool Team::join() {
  const std::lock_guard lock(mutex_);
  if (!open_) return false;
  ++joined_;
  if (std::ranges::find(taken_, current_processor()) != taken_.end()) move_away(taken_);
  taken_.push_back(current_processor());
  return true;
}

void Team::call() {
  if (threads_.empty()) start();
  calls_.fetch_add(1);
  changed_.notify();
}

void Team::run() {
  left_.store(0);
  {
    const std::lock_guard lock(mutex_);
    open_ = true;
    joined_ = 0;
    taken_.assign(1, current_processor());
  }
  work_(0);
  uint32_t all = 0;
  {
    const std::lock_guard lock(mutex_);
    open_ = false;
    all = joined_;
  }
  changed_.wait([&] { return left_.load() == all; });
}

}  // namespace sluice::megakernel
