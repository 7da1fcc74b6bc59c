#include "runtime/background.hpp"

#include <algorithm>
#include <chrono>
#include <system_error>

#include <pthread.h>
#include <sched.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/keep_errno.hpp"
#include "base/processors.hpp"
#include "base/thread/signals_blocked.hpp"

namespace sluice::runtime {
namespace {

constexpr int lowest_priority = 19;
// As the policy's part: what else may compete with the program's threads.
constexpr int64_t eager_for_a_part = 50;  // 2 % of the time so far

// Nanoseconds, so that short work wakes nobody each time.
constexpr int64_t shortest_count = 5'000'000;

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
    const SignalsBlocked blocked;
    std::thread([this] { serve(); }).detach();
    is_serving_ = true;
    at_work_since_ = time_of(CLOCK_MONOTONIC);
    if (watch_ != Watch::none) return;
    std::thread([this] { watch(); }).detach();
    watch_ = Watch::waits;
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
  if (watch_ == Watch::waits) began_.notify_one();
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

// Work that takes long is lowered while the program asks for nothing. The thread is there for good,
// since most of what is served is over by the time that a thread has begun.
void Background::watch() {
  std::unique_lock lock(mutex_);
  while (watch_ != Watch::stops) {
    watch_ = Watch::waits;
    began_.wait(lock, [this] { return watch_ == Watch::stops || (thread_ != 0 && !is_lowered_); });
    if (watch_ == Watch::stops) break;
    watch_ = Watch::counts;
    const int64_t left = allowed() - (spent_ + time_of(processor_)) / processors_;
    const std::chrono::nanoseconds time(std::max(left, shortest_count));
    began_.wait_for(lock, time, [this] { return watch_ == Watch::stops; });
    if (thread_ != 0) lower_where_long();
  }
  watch_ = Watch::none;
  ended_.notify_all();
}

int64_t Background::allowed() const {
  return eager_ + (time_of(CLOCK_MONOTONIC) - started_) / eager_for_a_part;
}

void Background::lower_where_long() {
  if (is_lowered_ || (spent_ + time_of(processor_)) / processors_ < allowed()) return;
  const KeepErrno keep;
  const sched_param none = {};
  sched_setscheduler(thread_, SCHED_IDLE, &none);  // it takes no processor from who runs
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
  if (watch_ != Watch::none) watch_ = Watch::stops;
  began_.notify_all();
  ended_.wait(lock, [this] { return !is_serving_ && watch_ == Watch::none; });
}

}  // namespace sluice::runtime
