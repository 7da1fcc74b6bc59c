// How long a thread was without a processor.
#pragma once

#include <algorithm>
#include <chrono>
#include <ctime>

namespace sluice::megakernel {

// LostTime counts what has passed for one thread, less what it ran and what it slept of its own
// accord. Only that thread uses it.
class LostTime {
 public:
  using Duration = std::chrono::nanoseconds;

  // Reading is the time, from where does not matter, and what the thread has run by then.
  struct Reading {
    Duration time{0};
    Duration ran{0};
  };
  // now() reads the clocks for the calling thread; its processor time costs a system call.
  static Reading now() {
    timespec ran = {};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &ran);
    return {std::chrono::steady_clock::now().time_since_epoch(),
            std::chrono::seconds(ran.tv_sec) + Duration(ran.tv_nsec)};
  }

  void begin(const Reading& reading) {
    last_ = reading;
    slept_ = {};
  }
  void sleep(Duration time) { slept_ += time; }

  // take() is what was lost since begin() or the last call.
  Duration take(const Reading& reading) {
    const Duration lost = reading.time - last_.time - (reading.ran - last_.ran) - slept_;
    begin(reading);
    return std::max(lost, Duration(0));
  }

 private:
  Reading last_;
  Duration slept_{0};
};

}  // namespace sluice::megakernel
