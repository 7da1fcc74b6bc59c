#include "runtime/background.hpp"

#include <system_error>

#include <pthread.h>
#include <sched.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/keep_errno.hpp"
#include "megakernel/signals_blocked.hpp"

namespace sluice::runtime {
namespace {

// For so many nanoseconds work may compete with the program's threads: what brings something is
// mostly found by then.
constexpr int64_t eager = 30'000'000;
constexpr int lowest_priority = 19;

int64_t time_of(clockid_t clock) {
  timespec time = {};
  clock_gettime(clock, &time);
  return time.tv_sec * int64_t{1'000'000'000} + time.tv_nsec;
}

}  // namespace

void Background::add(std::function<void()> work) {
  const KeepErrno keep;
  std::unique_lock lock(mutex_);
  work_.push_back(std::move(work));
  if (is_serving_) return;
  try {
    const megakernel::SignalsBlocked blocked;
    std::thread([this] { serve(); }).detach();
    is_serving_ = true;
  } catch (const std::system_error&) {
    const std::function<void()> alone = std::move(work_.back());
    work_.pop_back();
    lock.unlock();
    alone();
  }
}

// A thread's priority can't be raised again, so that a thread ends with its work.
void Background::serve() {
  std::unique_lock lock(mutex_);
  thread_ = static_cast<pid_t>(syscall(SYS_gettid));
  pthread_getcpuclockid(pthread_self(), &processor_);
  is_lowered_ = false;
  while (!work_.empty()) {
    std::function<void()> work = std::move(work_.front());
    work_.pop_front();
    lock.unlock();
    work();
    work = nullptr;
    lock.lock();
  }
  spent_ += time_of(processor_);
  thread_ = 0;
  is_lowered_ = false;
  is_serving_ = false;
  ended_.notify_all();
}

bool Background::is_long() {
  const std::lock_guard lock(mutex_);
  if (thread_ == 0 || is_lowered_ || time_of(processor_) < eager) return is_lowered_;
  const KeepErrno keep;
  const sched_param none = {};
  sched_setscheduler(thread_, SCHED_BATCH, &none);  // it takes no processor from who runs
  setpriority(PRIO_PROCESS, static_cast<id_t>(thread_), lowest_priority);
  return is_lowered_ = true;
}

int64_t Background::clock() {
  return time_of(CLOCK_THREAD_CPUTIME_ID);
}

int64_t Background::spent() {
  const std::lock_guard lock(mutex_);
  return spent_ + (thread_ == 0 ? 0 : time_of(processor_));
}

void Background::drop() {
  const std::lock_guard lock(mutex_);
  work_.clear();
}

void Background::stop() {
  std::unique_lock lock(mutex_);
  work_.clear();
  ended_.wait(lock, [this] { return !is_serving_; });
}

}  // namespace sluice::runtime
