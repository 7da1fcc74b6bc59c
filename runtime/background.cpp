#include "runtime/background.hpp"

#include <system_error>

#include <pthread.h>
#include <sched.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/keep_errno.hpp"
#include "base/processors.hpp"
#include "megakernel/signals_blocked.hpp"

namespace sluice::runtime {
namespace {

constexpr int lowest_priority = 19;
// As the policy's part: what else may compete with the program's threads.
constexpr int64_t eager_for_a_part = 50;  // 2 % of the time so far

int64_t time_of(clockid_t clock) {
  timespec time = {};
  clock_gettime(clock, &time);
  return time.tv_sec * int64_t{1'000'000'000} + time.tv_nsec;
}

}  // namespace

Background::Background(bool waits, int64_t eager_for)
    : waits_(waits), eager_(eager_for), started_(time_of(CLOCK_MONOTONIC)) {}

void Background::add(std::function<void()> work) {
  const KeepErrno keep;
  std::unique_lock lock(mutex_);
  work_.push_back(std::move(work));
  if (is_serving_) return;
  try {
    const megakernel::SignalsBlocked blocked;
    std::thread([this] { serve(); }).detach();
    is_serving_ = true;
    at_work_since_ = time_of(CLOCK_MONOTONIC);
  } catch (const std::system_error&) {
    const std::function<void()> alone = std::move(work_.back());
    work_.pop_back();
    lock.unlock();
    alone();
  }
}

// A thread's priority can't be raised again, so that a thread ends with its work.
void Background::serve() {
  const int64_t processors = available_processors();
  std::unique_lock lock(mutex_);
  processors_ = processors;
  thread_ = static_cast<pid_t>(syscall(SYS_gettid));
  pthread_getcpuclockid(pthread_self(), &processor_);
  is_lowered_ = false;
  while (!work_.empty()) {
    lower_where_long();
    std::function<void()> work = std::move(work_.front());
    work_.pop_front();
    lock.unlock();
    work();
    work = nullptr;
    lock.lock();
    at_work_since_ = time_of(CLOCK_MONOTONIC);
  }
  spent_ += time_of(processor_);
  thread_ = 0;
  is_lowered_ = false;
  is_serving_ = false;
  ended_.notify_all();
}

void Background::lower_where_long() {
  const int64_t allowed = eager_ + (time_of(CLOCK_MONOTONIC) - started_) / eager_for_a_part;
  if (is_lowered_ || (spent_ + time_of(processor_)) / processors_ < allowed) return;
  const KeepErrno keep;
  const sched_param none = {};
  sched_setscheduler(thread_, SCHED_BATCH, &none);  // it takes no processor from who runs
  setpriority(PRIO_PROCESS, static_cast<id_t>(thread_), lowest_priority);
  is_lowered_ = true;
}

bool Background::is_long() {
  if (!is_serving_) return false;
  const std::lock_guard lock(mutex_);
  if (thread_ != 0) lower_where_long();
  return is_lowered_;
}

int64_t Background::clock() {
  return time_of(CLOCK_THREAD_CPUTIME_ID);
}

int64_t Background::spent() {
  const std::lock_guard lock(mutex_);
  return spent_ + (thread_ == 0 ? 0 : time_of(processor_));
}

int64_t Background::at_work() {
  const std::lock_guard lock(mutex_);
  return is_serving_ ? time_of(CLOCK_MONOTONIC) - at_work_since_ : 0;
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
