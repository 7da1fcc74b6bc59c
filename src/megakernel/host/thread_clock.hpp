// How much processor time a thread has used, as other threads may ask.
#pragma once

#include <chrono>
#include <ctime>

#include <pthread.h>

namespace sluice::megakernel {

// ThreadClock counts from when it was made, and must not be asked after its thread has ended. One
// that was not made of a thread does not run.
class ThreadClock {
 public:
  ThreadClock() = default;

  static ThreadClock of_this_thread() {
    ThreadClock made;
    made.thread_ = pthread_self();
    made.runs_ = pthread_getcpuclockid(made.thread_, &made.clock_) == 0;
    made.start_ = made.read();
    return made;
  }

  bool is_running() const { return runs_; }
  bool is_of_this_thread() const { return runs_ && pthread_equal(thread_, pthread_self()) != 0; }
  std::chrono::nanoseconds used() const { return read() - start_; }

 private:
  std::chrono::nanoseconds read() const {
    timespec now = {};
    if (!runs_ || clock_gettime(clock_, &now) != 0) return start_;
    return std::chrono::seconds(now.tv_sec) + std::chrono::nanoseconds(now.tv_nsec);
  }

  bool runs_ = false;
  pthread_t thread_{};
  clockid_t clock_ = 0;
  std::chrono::nanoseconds start_{0};
};

}  // namespace sluice::megakernel
