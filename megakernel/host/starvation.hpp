// Whether workers starve, so that the calling thread runs windows alone for a while.
#pragma once

#include <atomic>
#include <chrono>
#include <functional>
#include <mutex>

namespace sluice::megakernel {

// Starvation. Where launches are small, workers wait for each other at every one; beside busy
// processes such a wait is as long as the time slice that the other worker has lost, and one
// worker, who waits for nobody, is faster than two. So whoever kept another asleep tells how long
// it was without a processor meanwhile. Where that comes to more than a quarter of the time, the
// calling thread goes on alone. All is tried again after a while, ever more rarely where it has
// starved again, and not at all while launches are short and even the calling thread has to wait
// for a processor. A program that had to before its first window begins alone, until its launches
// were measured. Thread-safe but for goes_alone().
class Starvation {
 public:
  using Duration = std::chrono::nanoseconds;
  using Time = std::chrono::steady_clock::time_point;

  // `now` is the clock; `is_contended` says whether the program has had to wait for processors
  // since it was asked last, and is asked before the first window and at the end of each time
  // alone.
  Starvation(std::function<Time()> now, std::function<bool()> is_contended);

  // goes_alone() says whether the calling thread is to go on alone, and is asked by it before each
  // window and, while it is alone, before each task. `has_short_launches` says whether workers
  // would have to wait for each other all the time.
  bool goes_alone(const std::function<bool()>& has_short_launches);

  // is_alone() holds where the others are to leave.
  bool is_alone() const { return alone_.load(std::memory_order_relaxed); }

  // lost() is told how long a worker that kept others asleep was without a processor.
  void lost(Duration time);

  // starve() leaves the calling thread alone from now on.
  void starve();

 private:
  void starve_at(Time now);
  void leave_alone(Time now, Duration time);

  const std::function<Time()> now_;
  const std::function<bool()> is_contended_;
  std::atomic<bool> alone_{true};  // until it was asked whether processors are contended
  std::mutex mutex_;               // guards what follows
  Duration level_{0};
  Time last_lost_;
  Time alone_until_ = Time::min();
  Duration alone_for_{0};
};

}  // namespace sluice::megakernel
