// Whether other processes want the processors too.
#pragma once

#include <cstdint>
#include <string>

namespace sluice::megakernel {

// ProcessorShare is how long threads have run, and how long they were ready to run but had to wait
// for a processor, in nanoseconds.
struct ProcessorShare {
  int64_t ran = 0;
  int64_t waited = 0;

  // is_crowded() holds where waiting was more than an eighth: on an idle machine a few hundredths
  // are usual, and beside as many busy processes as there are processors it is a third.
  bool is_crowded() const { return 8 * waited > ran + waited; }
};

// share_of_threads() is that of all threads of a process, by the kernel's text of it in the folders
// of `tasks` (Linux, Documentation/scheduler/sched-stats.rst); nothing where it does not say. It
// takes some microseconds a thread, and leaves errno. Thread-safe.
ProcessorShare share_of_threads(const std::string& tasks = "/proc/self/task");

// CrowdWatch tells whether there is a crowd now. Not thread-safe.
class CrowdWatch {
 public:
  // is_crowded() takes the share since the program began, and looks at what is new in it, once that
  // is enough to tell: a thread that has just got a processor keeps it for some milliseconds.
  bool is_crowded(const ProcessorShare& share) {
    const ProcessorShare fresh{share.ran - last_.ran, share.waited - last_.waited};
    if (fresh.ran + fresh.waited < enough) return is_crowded_;
    last_ = share;
    return is_crowded_ = fresh.is_crowded();
  }
  bool operator()() { return is_crowded(share_of_threads()); }

 private:
  static constexpr int64_t enough = 10'000'000;  // nanoseconds: some time slices

  ProcessorShare last_;
  bool is_crowded_ = false;
};

}  // namespace sluice::megakernel
