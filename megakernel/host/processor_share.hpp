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

  // is_contended() holds where waiting was more than an eighth: on an idle machine a few hundredths
  // are usual, and beside as many busy processes as there are processors it is a third.
  bool is_contended() const { return 8 * waited > ran + waited; }
};

// share_of_threads() is that of all threads of a process. Of a thread that has waited for longer
// than it has run, what it ran counts as waited: one that is woken for a moment, now and then,
// where another thread of the process runs, waits for that one's time slice though the next
// processor is idle. It is told by the kernel's text of it in the folders
// of `tasks` (Linux, Documentation/scheduler/sched-stats.rst); nothing where it does not say. It
// takes some microseconds a thread, and leaves errno. Thread-safe.
ProcessorShare share_of_threads(const std::string& tasks = "/proc/self/task");

// ContentionWatch tells whether there is contention for processors now. Not thread-safe.
class ContentionWatch {
 public:
  // is_contended() takes the share since the program began, and looks at what is new in it, once
  // that is enough to tell: a thread that has just got a processor keeps it for some milliseconds.
  bool is_contended(const ProcessorShare& share) {
    const ProcessorShare fresh{share.ran - last_.ran, share.waited - last_.waited};
    if (fresh.ran + fresh.waited < enough) return is_contended_;
    last_ = share;
    return is_contended_ = fresh.is_contended();
  }
  bool operator()() { return is_contended(share_of_threads()); }

 private:
  static constexpr int64_t enough = 10'000'000;  // nanoseconds: some time slices

  ProcessorShare last_;
  bool is_contended_ = false;
};

}  // namespace sluice::megakernel
